// The beta message: x^(a - 1) (1 - x)^(b - 1), tau = a - 1, rho = b - 1. A family for probabilities.
#pragma once

#include <fmt/core.h>

#include <array>
#include <cmath>
#include <string>
#include <string_view>

#include "engine/messages/family_from.h"
#include "engine/support/special_functions.h"

namespace dma {

struct Beta : AnyNatural {
  static constexpr std::string_view kName = "beta", kValues = "a number between 0 and 1";

  using AnyNatural::AnyNatural;
  // The message with this mean and variance.
  static Beta from_moments(double mean, double variance) {
    const double both = mean * (1 - mean) / variance - 1;
    return {mean * both - 1, (1 - mean) * both - 1};
  }
  double a() const { return tau + 1; }
  double b() const { return rho + 1; }

  static double location(double x) { return x > 0 && x < 1 ? x : std::nan(""); }
  static std::array<double, 2> statistics(double x) { return {std::log(x), std::log1p(-x)}; }
  bool is_proper() const { return tau > -1 && rho > -1 && rho < kInfinity; }
  double log_normaliser() const { return log_gamma(a()) + log_gamma(b()) - log_gamma(a() + b()); }
  std::array<double, 2> expected() const {
    const double both = digamma(a() + b());
    return {digamma(a()) - both, digamma(b()) - both};
  }
  double mean() const { return a() / (a() + b()); }
  double variance() const { return mean() * (1 - mean()) / (a() + b() + 1); }
  double quantile(double p) const { return beta_quantile(a(), b(), p); }
  std::string text() const { return fmt::format("beta({:.4g}, {:.4g})", a(), b()); }
};

}  // namespace dma
