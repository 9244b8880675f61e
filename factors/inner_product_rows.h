// Working arrays of the inner product's kernels: one row of messages as moments, and sums over all terms but one.
#pragma once

#include <cmath>
#include <span>

#include "engine/batch.h"
#include "factors/product.h"
#include "factors/sum.h"

namespace dma::inner_product {

// One factor's messages of a row as moments, if wanted with s = m^2 / (m^2 + v) and 1 - s.
struct Side {
  double *mean, *variance, *signal, *rest;

  // One division per message. False if a message is uniform or leaves the range of double.
  bool read(const PortView& view, std::size_t slot, bool with_signal) const {
    const double* const tau = view.tau + view.offset(0, slot);
    const double* const rho = view.rho + view.offset(0, slot);
    return with_signal ? read_with_signal(tau, rho, view.terms) : read_moments(tau, rho, view.terms);
  }

 private:
  bool read_moments(const double* tau, const double* rho, std::size_t terms) const {
    int bad = 0;
    for (std::size_t t = 0; t < terms; ++t) {
      const double v = 1 / rho[t];
      variance[t] = v;
      mean[t] = rho[t] == kInfinity ? tau[t] : tau[t] * v;
      bad += !(v < kInfinity);
    }
    return bad == 0;
  }
  // r = 1 / (rho (tau^2 + rho)) gives v = r (tau^2 + rho), s = r rho tau^2, 1 - s = r rho^2.
  bool read_with_signal(const double* tau, const double* rho, std::size_t terms) const {
    int bad = 0;
    for (std::size_t t = 0; t < terms; ++t) {
      const bool point = rho[t] == kInfinity;
      const double square = tau[t] * tau[t], sum = square + rho[t];
      const double r = 1 / (rho[t] * sum);
      const double v = point ? 0.0 : r * sum;
      variance[t] = v;
      mean[t] = point ? tau[t] : tau[t] * v;
      signal[t] = point ? (tau[t] != 0 ? 1.0 : 0.0) : r * rho[t] * square;
      rest[t] = point ? (tau[t] != 0 ? 0.0 : 1.0) : r * rho[t] * rho[t];
      bad += !(point || (r > 0 && r < kInfinity));
    }
    return bad == 0;
  }
};

// The working arrays of one row, cut from the batch's scratch memory.
struct Row {
  static constexpr std::size_t kArrays = 16;  // the unfused way needs 4 more per term; 32 are there
  explicit Row(const Batch& batch) : terms(batch.reads[0].terms), memory(batch.scratch) {}

  double* array(std::size_t i) const { return memory + i * terms; }
  Side x() const { return {array(0), array(1), array(2), array(3)}; }
  Side y() const { return {array(4), array(5), array(6), array(7)}; }
  double* mean() const { return array(8); }             // of each product
  double* variance() const { return array(9); }
  double* later_means() const { return array(10); }     // sums over all later products
  double* later_variances() const { return array(11); }
  double* tau(int side) const { return array(side == 0 ? 12 : 14); }  // results
  double* rho(int side) const { return array(side == 0 ? 13 : 15); }

  std::size_t terms;
  double* memory;
};

// The unfused way, message by message: for uniform messages, and where squares leave the range of double.
struct Unfused {
  Unfused(const Batch& batch, std::size_t slot) : x(batch.reads[0]), y(batch.reads[1]), c(slot) {
    const Row row(batch);
    auto* const room = reinterpret_cast<Gaussian*>(row.array(Row::kArrays));
    products = {room, row.terms};
    cavities = {room + row.terms, row.terms};
    for (std::size_t t = 0; t < row.terms; ++t) {
      ::new (&products[t]) Gaussian(Product::to_z(Gaussian(x.at(0, c, t)), Gaussian(y.at(0, c, t))));
      ::new (&cavities[t]) Gaussian;
    }
  }
  void form_cavities(const Gaussian& total) { Sum::to_terms(products, total, {}, cavities); }

  const PortView &x, &y;
  std::size_t c;
  std::span<Gaussian> products, cavities;
};

// Moments of both sides for every slot; a side that all slots share is read once.
class Sides {
 public:
  Sides(const Batch& batch, const Row& row, bool x_signal, bool y_signal)
      : x_(batch.reads[0]), y_(batch.reads[1]), row_(row), x_signal_(x_signal), y_signal_(y_signal) {}
  bool read(std::size_t slot) {
    if (slot == 0 || x_.column != 0) x_usable_ = row_.x().read(x_, slot, x_signal_);
    if (slot == 0 || y_.column != 0) y_usable_ = row_.y().read(y_, slot, y_signal_);
    return x_usable_ && y_usable_;
  }

 private:
  const PortView &x_, &y_;
  const Row& row_;
  const bool x_signal_, y_signal_;
  bool x_usable_ = false, y_usable_ = false;
};

// m_t and v_t of every product of the row.
inline void form_products(const Row& row) {
  const Side x = row.x(), y = row.y();
  double *const mean = row.mean(), *const variance = row.variance();
  for (std::size_t t = 0; t < row.terms; ++t) {
    const double mx = x.mean[t], vx = x.variance[t], my = y.mean[t], vy = y.variance[t];
    mean[t] = mx * my;
    variance[t] = (vx + mx * mx) * vy + my * my * vx;
  }
}

inline void form_later_sums(const Row& row) {
  double mean = 0, variance = 0;
  for (std::size_t t = row.terms; t-- > 0;) {
    row.later_means()[t] = mean;
    row.later_variances()[t] = variance;
    mean += row.mean()[t];
    variance += row.variance()[t];
  }
}

}  // namespace dma::inner_product
