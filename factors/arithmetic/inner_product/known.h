// Messages to x if y is known exactly, as in a regression, and possibly the same for all slots, as in the first layer
// of a network. With Var y = 0 and s = 1 both rules of backward.cpp coincide: from the cavity N(c, k) of its product,
//
//   tau_t = y_t c / k      rho_t = y_t^2 / k
#pragma once

#include <cmath>
#include <cstdint>

#include "factors/arithmetic/inner_product/cavities.h"

namespace dma::inner_product {

inline bool all_points(const PortView& view) {
  for (std::size_t t = 0; t < view.terms; ++t)
    if (view.rho[t] != kInfinity) return false;
  return true;
}

// A block of short rows, from their cavities. Returns false if a message is not proper.
inline bool block_of_known(const double* y, const double* c, const double* k, std::size_t count, double* to_tau,
                           double* to_rho) {
  std::int64_t bad = 0;
  DMA_INDEPENDENT
  for (std::size_t t = 0; t < count; ++t) {
    const double weight = y[t] / k[t], tau = weight * c[t], rho = weight * y[t];
    bad += ((std::abs(tau) + rho < kInfinity) & (k[t] < kInfinity) & ((rho > 0) | (tau == 0))) ? 0 : 1;
    to_tau[t] = tau;
    to_rho[t] = rho;
  }
  return bad == 0;
}

// One row of values that all slots share; `m` and `v` are buffers for the products. Returns false if a message is not
// proper, or a term dominates the others.
inline bool row_of_known(const double* x_tau, const double* x_rho, const double* y, std::size_t terms,
                         const Natural& total, double* m, double* v, double* to_tau, double* to_rho) {
  if (!total.is_proper()) return false;
  DMA_INDEPENDENT
  for (std::size_t t = 0; t < terms; ++t) {
    const double weighted = y[t] / x_rho[t], mean = weighted * x_tau[t], variance = weighted * y[t];
    m[t] = mean;
    v[t] = variance;
  }
  const double total_variance = 1 / total.rho;
  const Rest rest = rest_of(m, v, terms, total.tau * total_variance, total_variance);
  std::int64_t bad = 0;
  DMA_INDEPENDENT
  for (std::size_t t = 0; t < terms; ++t) {
    const double c = rest.mean + m[t], k = rest.variance - v[t], weight = y[t] / k, tau = weight * c,
                 rho = weight * y[t];
    // A uniform message or an overflow makes one of these infinite or NaN.
    const bool is_number = (std::abs(tau) + rho < kInfinity) & (k < kInfinity) & (x_rho[t] < kInfinity);
    bad += (is_number & ((rho > 0) | (tau == 0)) & !dominates(m[t], v[t], k)) ? 0 : 1;
    to_tau[t] = tau;
    to_rho[t] = rho;
  }
  return bad == 0;
}

}  // namespace dma::inner_product
