// Shared code for the rows of held.cpp: the other side, which all rows share, and sums over the products of a row.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "engine/kinds/call.h"
#include "engine/kinds/held.h"
#include "engine/support/independent.h"
#include "engine/support/pair.h"

namespace dma::inner_product {

// State of the other side: not read; values; moments within range; or unusual, which is left to the kernels of natural
// parameters. The forward kernel stores it for the backward one (HeldCavity::left), together with the moments
// (HeldOther) and the sums of rows (OfRows).
enum Found : std::uint8_t { kNotRead = 0, kValues, kMoments, kUnusual };

// The other side of every row, in memory shared by the kernels of a cavity.
struct HeldOther {
  HeldOther(const Call& call, const HeldCavity& x) : HeldOther(call.reads[1], call.columns, x) {}
  HeldOther(const PortView& y, std::size_t rows, const HeldCavity& x)
      : view(y),
        is_shared(y.column == 0 || rows == 1),
        own_mean(x.per_term),
        variance(own_mean + y.terms),
        tau_gain(variance + y.terms),
        rho_gain(tau_gain + y.terms),
        last(rho_gain + y.terms),
        spare{last + y.terms, last + 2 * y.terms} {
    static_assert(kHeldPerTerm >= 7);
  }

  Found read() const {
    constexpr double kFar = 1e15;
    const double *const tau = view.tau, *const rho = view.rho;
    const std::size_t terms = view.terms;
    std::int64_t points = 0, far = 0;
    if (!is_shared) return kUnusual;
    if (rho[0] == kInfinity) {
      for (std::size_t t = 0; t < terms; ++t) {
        points += rho[t] == kInfinity ? 1 : 0;
        far += std::abs(tau[t]) < kFar ? 0 : 1;
      }
      if (points == static_cast<std::int64_t>(terms)) return far == 0 ? kValues : kUnusual;
      far = 0;
    }
    DMA_INDEPENDENT
    for (std::size_t t = 0; t < terms; ++t) {
      const double v = 1 / rho[t], product = tau[t] * v, m = rho[t] == kInfinity ? tau[t] : product;
      variance[t] = v;
      own_mean[t] = m;
      far += ((std::abs(m) < kFar) & (v < kFar)) ? 0 : 1;
    }
    return far == 0 ? kMoments : kUnusual;
  }
  // Coefficients by which x's message depends on c / d and 1 / d, and the other terms of d: by Prop. 3.2 with s = m^2 /
  // (m^2 + v), which is 0 for a known 0, or by linearisation. Values are not copied.
  const double* mean(Found found) const { return found == kValues ? view.tau : own_mean; }
  template <bool kDirect>
  void signal(const double* mean) const {
    DMA_INDEPENDENT
    for (std::size_t t = 0; t < view.terms; ++t) {
      const double m = mean[t], v = variance[t], square = m * m, sum = square + v, r = sum > 0 ? 1 / sum : 0;
      const double s = square * r, gain = s * m, weight = s * gain;
      tau_gain[t] = kDirect ? weight : m;
      rho_gain[t] = kDirect ? weight * gain : square;
      last[t] = kDirect ? (sum > 0 ? v * r : 1) : square;
    }
  }

  const PortView& view;
  const bool is_shared;
  double *const own_mean, *const variance, *const tau_gain, *const rho_gain, *const last;
  const MessageArrays spare;
};

// Sums over the products of a row: m_t, v_t and m_t^2.
template <class Number>
struct RowSums {
  Number mean{}, variance{}, squares{};

  template <bool kKnown, bool kSquares>
  [[gnu::always_inline]] void add(const Number& mx, const Number& vx, const Number& my, const Number& vy) {
    const Number m = mx * my;
    mean += m;
    if constexpr (kSquares) squares += m * m;
    if constexpr (!kKnown) variance += (mx * mx + vx) * vy;
    variance += my * my * vx;
  }
};

// One number per row: its sums, later replaced by the total minus them.
struct OfRows {
  OfRows(const HeldCavity& x, std::size_t rows) : mean(x.per_slot), variance(mean + rows), squares(variance + rows) {}
  double *mean, *variance, *squares;
};
static_assert(kHeldPerSlot >= 3);

// y is known: vy = 0. Squares are needed if the row learns and y is not known.
template <bool kKnown, bool kSquares>
[[gnu::always_inline]] inline RowSums<double> sums_of_row(const double* mx, const double* vx, const double* my,
                                                          const double* vy, std::size_t terms) {
  RowSums<Pair> even, odd;  // additions wait for each other
  RowSums<double> all;
  std::size_t t = 0;
  const auto vy_at = [&](std::size_t at) { return kKnown ? Pair{} : load_pair(vy + at); };
  for (; t + 4 <= terms; t += 4) {
    even.template add<kKnown, kSquares>(load_pair(mx + t), load_pair(vx + t), load_pair(my + t), vy_at(t));
    odd.template add<kKnown, kSquares>(load_pair(mx + t + 2), load_pair(vx + t + 2), load_pair(my + t + 2),
                                       vy_at(t + 2));
  }
  if (t + 2 <= terms) {
    even.template add<kKnown, kSquares>(load_pair(mx + t), load_pair(vx + t), load_pair(my + t), vy_at(t));
    t += 2;
  }
  if (t < terms) all.template add<kKnown, kSquares>(mx[t], vx[t], my[t], kKnown ? 0 : vy[t]);
  return {all.mean + total(even.mean + odd.mean), all.variance + total(even.variance + odd.variance),
          all.squares + total(even.squares + odd.squares)};
}
template <bool kKnown, bool kSquares>
void sums_of_rows(const HeldCavity& x, const double* my, const double* vy, std::size_t rows, std::size_t terms,
                  const OfRows& to) {
  const double *mx = x.mean, *vx = x.variance;
  for (std::size_t c = 0; c < rows; ++c, mx += terms, vx += terms) {
    const RowSums<double> sums = sums_of_row<kKnown, kSquares>(mx, vx, my, vy, terms);
    to.mean[c] = sums.mean;
    to.variance[c] = sums.variance;
    to.squares[c] = sums.squares;
  }
}
inline void sums_of_rows(const HeldCavity& x, const double* my, const double* vy, bool is_known, bool learns,
                         std::size_t rows, std::size_t terms, const OfRows& to) {
  if (is_known) sums_of_rows<true, false>(x, my, vy, rows, terms, to);
  else if (learns) sums_of_rows<false, true>(x, my, vy, rows, terms, to);
  else sums_of_rows<false, false>(x, my, vy, rows, terms, to);
}

inline double largest_variance(const double* mx, const double* vx, const double* my, const double* vy, bool is_known,
                               std::size_t terms) {
  double largest = 0;
  for (std::size_t t = 0; t < terms; ++t)
    largest = std::max(largest, (is_known ? 0 : (mx[t] * mx[t] + vx[t]) * vy[t]) + my[t] * my[t] * vx[t]);
  return largest;
}

// True if no power below overflows and no term dominates the others (see cavities.h), given the total minus the sum of
// all products, the squares of their means, and the least variance of a cavity.
inline bool is_ordinary(double rest_mean, double rest_variance, double squares, double least) {
  constexpr double kMuch = 256, kFar = 1e30, kManyDeviations = 1e20;
  return (kMuch * least >= rest_variance) & (kMuch * kMuch * least >= squares) & (rest_variance > 1 / kFar) &
         (rest_variance < kFar) & (rest_mean * rest_mean < kManyDeviations * rest_variance);
}

}  // namespace dma::inner_product
