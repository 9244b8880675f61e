// Working arrays of the inner product's kernels: messages as moments, for a block of slots at a time. Rows of a few terms
// are too short for a processor to get going; a block of them is as good as one long row.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

#include "engine/batch.h"
#include "engine/independent.h"
#include "factors/product.h"
#include "factors/sum.h"

namespace dma::inner_product {

// One factor's messages as moments, if wanted with s = m^2 / (m^2 + v) and 1 - s.
struct Side {
  double *mean, *variance, *signal, *rest;

  // One division per message. False if a message is uniform or leaves the range of double.
  bool read(const PortView& view, std::size_t first_slot, std::size_t count, bool with_signal) const {
    const double* const tau = view.tau + view.offset(0, first_slot);
    const double* const rho = view.rho + view.offset(0, first_slot);
    if (rho[0] == kInfinity && read_points(tau, rho, count)) return true;
    return with_signal ? read_with_signal(tau, rho, count) : read_moments(tau, rho, count);
  }
  // The first `terms` entries again, up to `count` in all.
  void repeat(std::size_t terms, std::size_t count) const {
    for (double* const array : {mean, variance, signal, rest})
      for (std::size_t t = terms; t < count; ++t) array[t] = array[t - terms];
  }

 private:
  // Observed values are all point masses, and need no division. False if one is not.
  bool read_points(const double* tau, const double* rho, std::size_t count) const {
    std::int64_t others = 0;
    DMA_INDEPENDENT
    for (std::size_t t = 0; t < count; ++t) {
      const double s = tau[t] != 0 ? 1.0 : 0.0;
      mean[t] = tau[t];
      variance[t] = 0;
      signal[t] = s;
      rest[t] = 1 - s;
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
  // r = 1 / (rho (tau^2 + rho)) gives v = r (tau^2 + rho), s = r rho tau^2, 1 - s = r rho^2. Of a point mass s is 1, or 0
  // at location 0.
  bool read_with_signal(const double* tau, const double* rho, std::size_t count) const {
    std::int64_t bad = 0;
    DMA_INDEPENDENT
    for (std::size_t t = 0; t < count; ++t) {
      const bool point = rho[t] == kInfinity;
      const double square = tau[t] * tau[t], sum = square + rho[t], r = 1 / (rho[t] * sum);
      const double v = r * sum, m = tau[t] * v, s = r * rho[t] * square, one_minus_s = r * rho[t] * rho[t];
      const double of_point = tau[t] != 0 ? 1.0 : 0.0, one_minus_of_point = 1 - of_point;
      variance[t] = point ? 0.0 : v;
      mean[t] = point ? tau[t] : m;
      signal[t] = point ? of_point : s;
      rest[t] = point ? one_minus_of_point : one_minus_s;
      bad += point | ((r > 0) & (r < kInfinity)) ? 0 : 1;
    }
    return bad == 0;
  }
};

// The arrays of one block, cut from the batch's scratch memory: as many slots as make up kBlockTerms, or one.
struct Block {
  static constexpr std::size_t kArrays = 16;
  static constexpr std::size_t kBlockTerms = 32;
  // The unfused way needs 4 more for each term of one slot.
  static_assert(kArrays * kBlockTerms + 4 * kBlockTerms <= kLeastScratch);

  explicit Block(const Batch& batch)
      : terms(batch.reads[0].terms), capacity(std::max<std::size_t>(1, kBlockTerms / terms)), memory(batch.scratch) {}

  double* array(std::size_t i) const { return memory + i * capacity * terms; }
  Side x() const { return {array(0), array(1), array(2), array(3)}; }
  Side y() const { return {array(4), array(5), array(6), array(7)}; }
  double* mean() const { return array(8); }             // of each product
  double* variance() const { return array(9); }
  double* cavity_mean() const { return array(10); }     // of the message from the sum to each product
  double* cavity_variance() const { return array(11); }
  double* tau(int side) const { return array(side == 0 ? 12 : 14); }  // results
  double* rho(int side) const { return array(side == 0 ? 13 : 15); }

  std::size_t terms, capacity;
  double* memory;
};

// The unfused way, message by message: for uniform messages, and where squares leave the range of double.
struct Unfused {
  Unfused(const Batch& batch, std::size_t slot) : x(batch.reads[0]), y(batch.reads[1]), c(slot) {
    const Block block(batch);
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
  Sides(const Batch& batch, const Block& block, bool x_signal, bool y_signal)
      : x_{batch.reads[0], block.x(), x_signal}, y_{batch.reads[1], block.y(), y_signal}, block_(block) {
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

// The message from the sum to every term of one slot: the sums over all later terms first, then those over all earlier
// ones; nothing is subtracted from a sum it is part of.
inline void form_cavities(const Block& block, std::size_t slot, double total_mean, double total_variance) {
  const double *const m = block.mean() + slot * block.terms, *const v = block.variance() + slot * block.terms;
  double *const c = block.cavity_mean() + slot * block.terms, *const k = block.cavity_variance() + slot * block.terms;
  double mean = 0, variance = 0;
  for (std::size_t t = block.terms; t-- > 0; mean += m[t], variance += v[t]) c[t] = mean, k[t] = variance;
  mean = variance = 0;
  for (std::size_t t = 0; t < block.terms; mean += m[t], variance += v[t], ++t) {
    c[t] = total_mean - (mean + c[t]);
    k[t] = total_variance + (variance + k[t]);
  }
}

}  // namespace dma::inner_product
