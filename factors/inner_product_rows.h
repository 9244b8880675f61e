// Working arrays of the inner product's kernels: messages as moments, for a block of slots at a time. Rows of a few terms
// are too short for a processor to get going; a block of them is as good as one long row.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <type_traits>

#include "engine/kinds/call.h"
#include "engine/support/independent.h"
#include "factors/leave_one_out.h"
#include "factors/product.h"
#include "factors/sum.h"

namespace dma::inner_product {

// One factor's messages as moments, if wanted with what Prop. 3.2 makes of s = m^2 / (m^2 + v): gain = s m, weight = s^2 m
// and rest = 1 - s.
struct Side {
  double *mean, *variance, *gain, *weight, *rest;

  // One division per message. False if a message is uniform or leaves the range of double.
  bool read(const PortView& view, std::size_t first_slot, std::size_t count, bool with_signal) const {
    const double* const tau = view.tau + view.offset(0, first_slot);
    const double* const rho = view.rho + view.offset(0, first_slot);
    if (rho[0] == kInfinity && read_points(tau, rho, count)) return true;
    if (!with_signal) return read_moments(tau, rho, count);
    return read_proper(tau, rho, count) || read_any(tau, rho, count);
  }
  // The first `terms` entries again, up to `count` in all.
  void repeat(std::size_t terms, std::size_t count) const {
    for (double* const array : {mean, variance, gain, weight, rest})
      for (std::size_t t = terms; t < count; ++t) array[t] = array[t - terms];
  }

 private:
  // Observed values are all point masses, and need no division. False if one is not.
  bool read_points(const double* tau, const double* rho, std::size_t count) const {
    std::int64_t others = 0;
    DMA_INDEPENDENT
    for (std::size_t t = 0; t < count; ++t) {
      mean[t] = gain[t] = weight[t] = tau[t];
      variance[t] = 0;
      rest[t] = tau[t] != 0 ? 0.0 : 1.0;
      others += rho[t] == kInfinity ? 0 : 1;
    }
    return others == 0;
  }
  bool read_moments(const double* tau, const double* rho, std::size_t count) const {
    std::int64_t bad = 0;
    DMA_INDEPENDENT
    for (std::size_t t = 0; t < count; ++t) {
      const double v = 1 / rho[t], m = tau[t] * v;
      variance[t] = v;
      mean[t] = rho[t] == kInfinity ? tau[t] : m;
      bad += v < kInfinity ? 0 : 1;
    }
    return bad == 0;
  }
  // r = 1 / (rho (tau^2 + rho)) gives v = r (tau^2 + rho), s = r rho tau^2, 1 - s = r rho^2. False also for a point mass.
  bool read_proper(const double* tau, const double* rho, std::size_t count) const {
    std::int64_t bad = 0;
    DMA_INDEPENDENT
    for (std::size_t t = 0; t < count; ++t) {
      const double square = tau[t] * tau[t], sum = square + rho[t], r = 1 / (rho[t] * sum);
      const double v = r * sum, m = tau[t] * v, scale = r * rho[t], one_minus_s = scale * rho[t];
      const double s = scale * square, g = s * m;
      mean[t] = m;
      variance[t] = v;
      gain[t] = g;
      weight[t] = s * g;
      rest[t] = one_minus_s;
      bad += (r > 0) & (r < kInfinity) ? 0 : 1;
    }
    return bad == 0;
  }
  // Some are point masses: their s is 1, or 0 at location 0, where gain and weight are 0 by their mean.
  bool read_any(const double* tau, const double* rho, std::size_t count) const {
    std::int64_t bad = 0;
    for (std::size_t t = 0; t < count; ++t) {
      const bool is_point = rho[t] == kInfinity;
      const double sum = tau[t] * tau[t] + rho[t], r = is_point ? 0 : 1 / (rho[t] * sum);
      const double s = is_point ? 1 : r * rho[t] * (tau[t] * tau[t]);
      mean[t] = is_point ? tau[t] : tau[t] * r * sum;
      variance[t] = is_point ? 0 : r * sum;
      gain[t] = s * mean[t];
      weight[t] = s * gain[t];
      rest[t] = is_point ? (tau[t] != 0 ? 0 : 1) : r * rho[t] * rho[t];
      bad += is_point | ((r > 0) & (r < kInfinity)) ? 0 : 1;
    }
    return bad == 0;
  }
};

// The arrays of one block, cut from the call's scratch memory: as many slots as make up kBlockTerms, or one.
struct Block {
  static constexpr std::size_t kArrays = 18;
  static constexpr std::size_t kBlockTerms = 32;
  // The unfused way needs 4 more for each term of one slot.
  static_assert(kArrays * kBlockTerms + 4 * kBlockTerms <= kLeastScratch);

  explicit Block(const Call& call)
      : terms(call.reads[0].terms), capacity(std::max<std::size_t>(1, kBlockTerms / terms)), memory(call.scratch) {}

  double* array(std::size_t i) const { return memory + i * capacity * terms; }
  Side x() const { return {array(0), array(1), array(2), array(3), array(4)}; }
  Side y() const { return {array(5), array(6), array(7), array(8), array(9)}; }
  double* mean() const { return array(10); }            // of each product
  double* variance() const { return array(11); }
  double* cavity_mean() const { return array(12); }     // of the message from the sum to each product
  double* cavity_variance() const { return array(13); }
  double* tau(int side) const { return array(side == 0 ? 14 : 16); }  // results
  double* rho(int side) const { return array(side == 0 ? 15 : 17); }

  std::size_t terms, capacity;
  double* memory;
};

// The unfused way, message by message: for uniform messages, and where squares leave the range of double.
struct Unfused {
  Unfused(const Call& call, std::size_t slot) : x(call.reads[0]), y(call.reads[1]), c(slot) {
    const Block block(call);
    auto* const room = reinterpret_cast<Gaussian*>(block.array(Block::kArrays));
    products = {room, block.terms};
    cavities = {room + block.terms, block.terms};
    for (std::size_t t = 0; t < block.terms; ++t) {
      ::new (&products[t]) Gaussian(Product::to_z(Gaussian(x.at(0, c, t)), Gaussian(y.at(0, c, t))));
      ::new (&cavities[t]) Gaussian;
    }
  }
  void form_cavities(const Gaussian& total) { Sum::to_terms(products, total, {}, cavities); }

  const PortView &x, &y;
  std::size_t c;
  std::span<Gaussian> products, cavities;
};

// Moments of both sides for the slots of a block; a side that all slots share is read once.
class Sides {
 public:
  Sides(const Call& call, const Block& block, bool x_signal, bool y_signal)
      : x_{call.reads[0], block.x(), x_signal}, y_{call.reads[1], block.y(), y_signal}, block_(block) {
    for (Source* source : {&x_, &y_})
      if (source->view.column == 0) {
        source->usable = source->side.read(source->view, 0, block.terms, source->with_signal);
        source->side.repeat(block.terms, block.capacity * block.terms);
      }
  }
  bool read(std::size_t first_slot, std::size_t slots) {
    for (Source* source : {&x_, &y_})
      if (source->view.column != 0)
        source->usable = source->side.read(source->view, first_slot, slots * block_.terms, source->with_signal);
    return x_.usable && y_.usable;
  }

 private:
  struct Source {
    const PortView& view;
    Side side;
    bool with_signal, usable = false;
  };
  Source x_, y_;
  const Block& block_;
};

// m_t and v_t of every product.
inline void form_products(const Block& block, std::size_t slots) {
  const Side x = block.x(), y = block.y();
  double *const mean = block.mean(), *const variance = block.variance();
  DMA_INDEPENDENT
  for (std::size_t t = 0; t < slots * block.terms; ++t) {
    const double mx = x.mean[t], vx = x.variance[t], my = y.mean[t], vy = y.variance[t];
    mean[t] = mx * my;
    variance[t] = (vx + mx * mx) * vy + my * my * vx;
  }
}

// The message from the sum to a term is the total without the sum of all, and that term back again. That is as good as
// adding up the others while the term does not dominate them.
struct Rest {
  double mean, variance;
};
inline Rest rest_of(const double* m, const double* v, std::size_t terms, double total_mean, double total_variance) {
  double mean[2] = {}, variance[2] = {};  // two sums at a time: additions wait for each other
  std::size_t t = 0;
  for (; t + 2 <= terms; t += 2)
    for (std::size_t i = 0; i < 2; ++i) mean[i] += m[t + i], variance[i] += v[t + i];
  if (t < terms) mean[0] += m[t], variance[0] += v[t];
  return {total_mean - (mean[0] + mean[1]), total_variance + (variance[0] + variance[1])};
}
// Whether a term is that much more than what is left without it, in variance or in standard deviations. Up to there the
// difference loses at most 8 of a double's 53 bits: 6e-14 of the variance, or of a standard deviation.
inline bool dominates(double m, double v, double left_variance) {
  constexpr double kMuch = 256;
  return !((kMuch * left_variance >= v) & (kMuch * kMuch * left_variance >= m * m));
}

// The arrays of one slot of a block, from which the messages of the sum to its terms are made.
template <class Terms>
struct Cavities {
  static constexpr bool kIsShort = !std::is_same_v<Terms, std::size_t>;  // known to the compiler, see with_row_length
  Terms terms;
  const double *m, *v;  // the products
  double *c, *k;        // the results
  double total_mean, total_variance;

  // False where a term dominates the others.
  bool by_difference() const {
    const Rest rest = rest_of(m, v, terms, total_mean, total_variance);
    std::int64_t dominant = 0;
    DMA_INDEPENDENT
    for (std::size_t t = 0; t < terms; ++t) {
      c[t] = rest.mean + m[t];
      k[t] = rest.variance - v[t];
      dominant += dominates(m[t], v[t], k[t]) ? 1 : 0;
    }
    return dominant == 0;
  }
  // The sums over all later terms first, then those over all earlier ones; nothing is subtracted from a sum it is part of.
  [[gnu::always_inline]] void by_partial_sums() const {
    double mean = 0, variance = 0;
    for (std::size_t t = terms; t-- > 0; mean += m[t], variance += v[t]) c[t] = mean, k[t] = variance;
    mean = variance = 0;
    for (std::size_t t = 0; t < terms; mean += m[t], variance += v[t], ++t) {
      c[t] = total_mean - (mean + c[t]);
      k[t] = total_variance + (variance + k[t]);
    }
  }
};

template <class Terms>
[[gnu::always_inline]] inline void form_cavities(const Block& block, Terms terms, std::size_t slot, double total_mean, double total_variance) {
  const std::size_t first = slot * terms;
  const Cavities<Terms> cavities{terms, block.mean() + first, block.variance() + first, block.cavity_mean() + first,
                                 block.cavity_variance() + first, total_mean, total_variance};
  if (!cavities.kIsShort && cavities.by_difference()) return;
  cavities.by_partial_sums();
}

struct SumOfProducts {
  double mean, variance;
};
template <class Terms>
SumOfProducts sum_of_products(const Block& block, Terms terms, std::size_t slot) {
  const double *const m = block.mean() + slot * terms, *const v = block.variance() + slot * terms;
  SumOfProducts sum{0, 0};
  for (std::size_t t = 0; t < terms; ++t) sum.mean += m[t], sum.variance += v[t];
  return sum;
}

}  // namespace dma::inner_product
