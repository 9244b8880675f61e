// The messages on one side of an inner product as moments, for whole rows at a time.
#pragma once

#include <cstdint>

#include "engine/kinds/call.h"
#include "engine/support/independent.h"

namespace dma::inner_product {

// One factor's messages as moments, optionally with the terms of Prop. 3.2 for s = m^2 / (m^2 + v): gain = s m, weight
// = s^2 m and rest = 1 - s.
struct Side {
  double *mean, *variance, *gain, *weight, *rest;

  // One division per message. Returns false if a message is uniform or overflows.
  bool read(const PortView& view, std::size_t first_slot, std::size_t count, bool with_signal) const {
    const double* const tau = view.tau + view.offset(0, first_slot);
    const double* const rho = view.rho + view.offset(0, first_slot);
    if (rho[0] == kInfinity && read_points(tau, rho, count)) return true;
    if (!with_signal) return read_moments(tau, rho, count);
    return read_proper(tau, rho, count) || read_any(tau, rho, count);
  }
  // Repeats the first `terms` entries, up to `count` in all.
  void repeat(std::size_t terms, std::size_t count) const {
    for (double* const array : {mean, variance, gain, weight, rest})
      for (std::size_t t = terms; t < count; ++t) array[t] = array[t - terms];
  }

 private:
  // Observed values are point masses, and need no division. Returns false if one is not.
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
      bad += (v < kInfinity) ? 0 : 1;
    }
    return bad == 0;
  }
  // r = 1 / (rho (tau^2 + rho)) gives v = r (tau^2 + rho), s = r rho tau^2, 1 - s = r rho^2. Returns false for point
  // masses too.
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
      bad += ((r > 0) & (r < kInfinity)) ? 0 : 1;
    }
    return bad == 0;
  }
  // Some messages are point masses: their s is 1; at location 0 gain and weight are 0 through their mean.
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
      bad += (is_point | ((r > 0) & (r < kInfinity))) ? 0 : 1;
    }
    return bad == 0;
  }
};

}  // namespace dma::inner_product
