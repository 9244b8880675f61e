// The log-normal message on the same two natural parameters: those of the Gaussian of log x.
#pragma once

#include <fmt/core.h>

#include "engine/messages/gaussian_family.h"

namespace dma {

struct LogNormal : Natural {
  constexpr LogNormal() = default;
  constexpr LogNormal(double natural_log_mean, double log_precision) : Natural{natural_log_mean, log_precision} {}
  constexpr explicit LogNormal(const Natural& n) : Natural(n) {}

  static constexpr LogNormal uniform() { return {}; }
  // The point mass at x > 0.
  static LogNormal point(double x) { return {std::log(x), kInfinity}; }
  static LogNormal from_log_moments(double log_mean, double log_variance) {
    return LogNormal(static_cast<const Natural&>(Gaussian::from_moments(log_mean, log_variance)));
  }

  // The Gaussian of log x, with the same two numbers.
  Gaussian log() const { return Gaussian(static_cast<const Natural&>(*this)); }
  double log_mean() const { return log().mean(); }
  double log_variance() const { return log().variance(); }
  // Moments of x itself: exp(m + v/2) and exp(2m + v) (exp(v) - 1) = exp(2 (m + v)) (1 - exp(-v)), with m + c v = (tau
  // + c) / rho. In this form no factor is 0 while another is infinite. For a uniform message both are +inf.
  double mean() const { return std::exp(is_point() ? tau : (tau + 0.5) / rho); }
  double variance() const { return is_point() ? 0.0 : std::exp(2 * ((tau + 1) / rho)) * -std::expm1(-log_variance()); }
};

inline LogNormal operator*(const LogNormal& a, const LogNormal& b) { return LogNormal(multiply(a, b)); }
inline LogNormal operator/(const LogNormal& a, const LogNormal& b) { return LogNormal(divide(a, b)); }

// KL between log-normals equals KL between the Gaussians of their logarithms (the map is a bijection).
inline double kl(const LogNormal& p, const LogNormal& q) { return kl(p.log(), q.log()); }

// log density at x > 0; -inf for x <= 0 (0 for the uniform message: the constant function 1 of log x).
inline double log_density(const LogNormal& g, double x) {
  if (!(x > 0)) return g.is_uniform() ? 0.0 : -kInfinity;
  if (g.is_uniform()) return 0;
  return log_density(g.log(), std::log(x)) - std::log(x);
}

// Written "LN(1, 0.5^2)", with mean and standard deviation of the logarithm.
struct LogNormalFamily : LikeGaussian {
  static constexpr std::string_view kName = "log_normal", kValues = "a positive number";

  using LikeGaussian::LikeGaussian;
  static double location(double x) { return x > 0 && x < kInfinity ? std::log(x) : std::nan(""); }
  LogNormal message() const { return LogNormal(static_cast<const Natural&>(*this)); }
  static Natural from_moments(double mean, double variance) {
    const double log_variance = std::log1p(variance / mean / mean);
    return Gaussian::from_moments(std::log(mean) - 0.5 * log_variance, log_variance);
  }
  double mean() const { return message().mean(); }
  double variance() const { return message().variance(); }
  double log_density_at(double x) const { return log_density(message(), x); }
  double quantile(double p) const { return std::exp(Gaussian::mean() + sd() * normal_quantile(p)); }
  std::string text() const {
    return is_point() ? fmt::format("= {:.4g}", mean()) : fmt::format("LN({:.4g}, {:.4g}^2)", Gaussian::mean(), sd());
  }
};

}  // namespace dma
