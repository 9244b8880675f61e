// What the rows of held.cpp have in common: the other side, which all of them share, and sums over the products of a row.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>

#include "engine/kinds/held.h"
#include "engine/support/pair.h"
#include "factors/inner_product/block.h"

namespace dma::inner_product {

// The other side of every row.
class HeldOther {
 public:
  HeldOther(const Call& call, bool with_signal) : view_(call.reads[1]), block_(call), side_(block_.y()) {
    constexpr double kFar = 1e15;
    is_shared_ = view_.column == 0 && side_.read(view_, 0, view_.terms, with_signal);
    std::int64_t unknown = 0, far = 0;
    for (std::size_t t = 0; is_shared_ && t < view_.terms; ++t) {
      const double m = side_.mean[t], v = side_.variance[t];
      squares()[t] = m * m;
      unknown += v == 0 ? 0 : 1;
      far += ((std::abs(m) < kFar) & (v < kFar)) ? 0 : 1;
    }
    is_known_ = unknown == 0;
    is_shared_ &= far == 0;
  }
  bool is_shared() const { return is_shared_; }  // and its moments are not out of range
  bool is_known() const { return is_known_; }
  const Side& side() const { return side_; }
  double* squares() const { return block_.mean(); }
  double* spare() const { return block_.variance(); }

  // The numbers themselves, so that it can be seen whether they are still the same.
  void remember(double* numbers) const {
    std::memcpy(numbers, view_.tau, view_.terms * sizeof(double));
    std::memcpy(numbers + view_.terms, view_.rho, view_.terms * sizeof(double));
  }
  bool is_remembered(const double* numbers) const {
    return std::memcmp(numbers, view_.tau, view_.terms * sizeof(double)) == 0 &&
           std::memcmp(numbers + view_.terms, view_.rho, view_.terms * sizeof(double)) == 0;
  }

 private:
  const PortView& view_;
  const Block block_;
  const Side side_;
  bool is_shared_ = false, is_known_ = false;
};

// Sums over the products of a row: m_t, v_t and m_t^2.
template <class Number>
struct RowSums {
  Number mean{}, variance{}, mean_squares{};

  // `square` is my^2.
  template <bool kKnown, bool kSquares>
  [[gnu::always_inline]] void add(const Number& mx, const Number& vx, const Number& my, const Number& vy, const Number& square) {
    const Number m = mx * my;
    mean += m;
    if constexpr (kSquares) mean_squares += m * m;
    if constexpr (!kKnown) variance += (mx * mx + vx) * vy;
    variance += square * vx;
  }
  template <class Other>
  void add(const RowSums<Other>& o) {
    mean += total(o.mean), variance += total(o.variance), mean_squares += total(o.mean_squares);
  }
};

// One number for each row: its sums and later, in their places, what is left of the total without them.
struct OfRows {
  OfRows(const HeldContext& x, std::size_t rows) : mean(x.per_slot), variance(mean + rows), squares(variance + rows) {}
  double *mean, *variance, *squares;
};
static_assert(kHeldPerSlot >= 3);

// y is known: vy = 0. Squares are wanted if the row is to learn, and then if y is not known.
template <bool kKnown, bool kSquares>
RowSums<double> sums_of_row(const double* mx, const double* vx, const HeldOther& y, std::size_t terms) {
  const double *const my = y.side().mean, *const vy = y.side().variance, *const square = y.squares();
  RowSums<Pair> sums[2];  // additions wait for each other
  RowSums<double> all;
  std::size_t t = 0;
  for (; t + 4 <= terms; t += 4)
    for (std::size_t i = 0; i < 2; ++i) {
      const std::size_t at = t + 2 * i;
      sums[i].template add<kKnown, kSquares>(load_pair(mx + at), load_pair(vx + at), load_pair(my + at),
                                             kKnown ? Pair{} : load_pair(vy + at), load_pair(square + at));
    }
  for (; t < terms; ++t) all.template add<kKnown, kSquares>(mx[t], vx[t], my[t], vy[t], square[t]);
  all.add(sums[0]);
  all.add(sums[1]);
  return all;
}
template <bool kKnown, bool kSquares>
void sums_of_rows(const HeldContext& x, const HeldOther& y, std::size_t rows, std::size_t terms, const OfRows& to) {
  for (std::size_t c = 0; c < rows; ++c) {
    const RowSums<double> sums = sums_of_row<kKnown, kSquares>(x.mean + c * terms, x.variance + c * terms, y, terms);
    to.mean[c] = sums.mean, to.variance[c] = sums.variance, to.squares[c] = sums.mean_squares;
  }
}
inline void sums_of_rows(const HeldContext& x, const HeldOther& y, std::size_t rows, std::size_t terms, const OfRows& to) {
  if (y.is_known()) sums_of_rows<true, false>(x, y, rows, terms, to);
  else if (x.per_term != nullptr) sums_of_rows<false, true>(x, y, rows, terms, to);
  else sums_of_rows<false, false>(x, y, rows, terms, to);
}

inline double largest_variance(const double* mx, const double* vx, const HeldOther& y, std::size_t terms) {
  double largest = 0;
  for (std::size_t t = 0; t < terms; ++t)
    largest = std::max(largest, (mx[t] * mx[t] + vx[t]) * y.side().variance[t] + y.squares()[t] * vx[t]);
  return largest;
}

// Whether no power below leaves the range of double and no term dominates the others (see cavities.h), given what is left
// of the total without the sum over all products, the squares of their means, and the least variance of a cavity.
inline bool is_ordinary(double rest_mean, double rest_variance, double squares, double least) {
  constexpr double kMuch = 256, kFar = 1e30, kManyDeviations = 1e20;
  return (kMuch * least >= rest_variance) & (kMuch * kMuch * least >= squares) & (rest_variance > 1 / kFar) &
         (rest_variance < kFar) & (rest_mean * rest_mean < kManyDeviations * rest_variance);
}

}  // namespace dma::inner_product
