// The messages exactly as the paper states them, with their cancellation, in sixty digits.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "factors/families/log_normal.h"
#include "tests/oracles/high_precision.h"

namespace dma::oracle {

// Prop. 3.1
inline Moments product_to_z(const Gaussian& x, const Gaussian& y) {
  const auto [mx, vx] = exact(x);
  const auto [my, vy] = exact(y);
  return {mx * my, vx * vy + mx * mx * vy + my * my * vx};
}

// Prop. 3.2, in the paper's natural parameters.
inline Moments product_to_factor(const Gaussian& y, const Gaussian& z) {
  const Real ty = y.tau, ry = y.rho, tz = z.tau, rz = z.rho;
  const Real r = ty * ty * ty * ty * rz / (ry * (ty * ty + ry));
  const Real d = tz * tz * ry + ty * ty * rz + ry * rz;
  const Real tau = ty * r * tz / d, rho = r * r / d;
  return {tau / rho, 1 / rho};
}

// Prop. 3.4
inline Moments leaky_relu_to_y(const Gaussian& x, double slope) {
  const auto [m, v] = exact(x);
  const Real sd = sqrt(v), u = m / sd, a = slope;
  const auto [density, p, q] = halves(u);
  const Real big_a = a + (1 - a) * p, big_b = a * a + (1 - a * a) * p;
  const Real mean = m * big_a + (1 - a) * sd * density;
  return {mean, (m * m + v) * big_b + (1 - a * a) * m * sd * density - mean * mean};
}

// Prop. 3.5; Q = 1 - P is that of the other tail, because with a small slope its relative accuracy matters.
inline Moments leaky_relu_to_x(const Gaussian& y, double slope) {
  const auto [m, v] = exact(y);
  const Real sd = sqrt(v), w = m / sd, a = slope;
  const auto [density, p, q] = halves(w);
  const Real c = a * p + q;
  const Real mean = (m * (a * a * p + q) + (a * a - 1) * sd * density) / (a * c);
  const Real second = ((m * m + v) * (a * a * a * p + q) + (a * a * a - 1) * m * sd * density) / (a * a * c);
  return {mean, second - mean * mean};
}

inline Moments gaussian_noise(const Gaussian& x, double variance) {
  const auto [m, v] = exact(x);
  return {m, v + variance};
}

// Moments of every term times its coefficient.
inline std::vector<Moments> scaled_terms(std::span<const Gaussian> terms, std::span<const double> coefficients) {
  std::vector<Moments> all;
  for (std::size_t k = 0; k < terms.size(); ++k) {
    const auto [m, v] = exact(terms[k]);
    const Real c = coefficients[k];
    all.push_back({c * m, c * c * v});
  }
  return all;
}

inline Moments sum_to_total(std::span<const Gaussian> terms, std::span<const double> coefficients) {
  Moments total{0, 0};
  for (const Moments& term : scaled_terms(terms, coefficients))
    total.mean += term.mean, total.variance += term.variance;
  return total;
}

// To every term.
inline std::vector<Moments> sum_to_terms(std::span<const Gaussian> terms, const Gaussian& total,
                                         std::span<const double> coefficients) {
  const std::vector<Moments> all = scaled_terms(terms, coefficients);
  std::vector<Moments> out(all.size(), exact(total));
  for (std::size_t j = 0; j < out.size(); ++j) {
    for (std::size_t k = 0; k < all.size(); ++k)
      if (k != j) out[j].mean -= all[k].mean, out[j].variance += all[k].variance;
    const Real own = 1 / Real(coefficients[j]);
    out[j] = {out[j].mean * own, out[j].variance * own * own};
  }
  return out;
}

inline Moments copy_to(std::span<const Gaussian> in, std::size_t j) {
  Real tau = 0, rho = 0;
  for (std::size_t k = 0; k < in.size(); ++k) {
    if (k == j) continue;
    tau += in[k].tau;
    rho += in[k].rho;
  }
  const Real variance = 1 / rho;
  return {tau * variance, variance};
}

// App. C.4, both ways. The first returns the moments of log |x|.
inline Moments log_copy_to_log(const Gaussian& x) {
  const auto [m, v] = exact(x);
  const Real log_variance = log(1 + v / (m * m));
  return {log(abs(m)) - log_variance / 2, log_variance};
}

inline Moments log_copy_to_x(const LogNormal& l, double sign) {
  const auto [m, v] = exact(l);
  const Real mean = sign * exp(m + v / 2);
  return {mean, mean * mean * (exp(v) - 1)};
}

}  // namespace dma::oracle
