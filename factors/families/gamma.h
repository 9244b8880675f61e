// The gamma message: x^(shape - 1) exp(-rate x), tau = shape - 1, rho = rate. A family for precisions.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>

#include "engine/messages/family_from.h"
#include "engine/support/special_functions.h"

namespace dma {

struct Gamma : AnyNatural {
  static constexpr std::string_view kName = "gamma", kValues = "a positive number";

  using AnyNatural::AnyNatural;
  static Gamma from_shape_and_rate(double shape, double rate) { return {shape - 1, rate}; }
  // The message with this mean and variance.
  static Gamma from_moments(double mean, double variance) { return {mean / variance * mean - 1, mean / variance}; }

  double shape() const { return tau + 1; }
  double rate() const { return rho; }
  // A rate may be negative: EP's messages are quotients, whose product with other messages is proper.
  static bool is_message(const Natural& m) { return AnyNatural::is_message(m) && !(m.is_point() && m.tau <= 0); }
  // A rate has the unit of 1 / x: its change is relative.
  static double change(const Natural& before, const Natural& after) {
    if (before == after) return 0;
    if (before.is_point() || after.is_point()) return kInfinity;
    const double rate = std::max(std::abs(before.rho), std::abs(after.rho));
    return std::max(AnyNatural::change({before.tau, 0}, {after.tau, 0}),
                    rate > 0 ? std::abs(after.rho - before.rho) / rate : 0.0);
  }

  static double location(double x) { return x > 0 && x <= kLargest ? x : std::nan(""); }
  static std::array<double, 2> statistics(double x) { return {std::log(x), -x}; }
  bool is_proper() const { return tau > -1 && rho > 0 && rho < kInfinity; }
  double log_normaliser() const { return log_gamma(shape()) - shape() * std::log(rate()); }
  std::array<double, 2> expected() const { return {mean_log(), -mean()}; }
  double mean() const { return is_point() ? tau : shape() / rate(); }
  double variance() const { return is_point() ? 0.0 : shape() / rate() / rate(); }
  double mean_log() const { return is_point() ? std::log(tau) : digamma(shape()) - std::log(rate()); }
  double quantile(double p) const { return gamma_quantile(shape(), p) / rate(); }
  std::string text() const { return fmt::format("gamma({:.4g}, {:.4g})", shape(), rate()); }
};

}  // namespace dma
