// The Bernoulli message: exp(tau x) for x = 0 or 1, tau the log-odds; rho is not used. A certain value is a point mass.
#pragma once

#include <fmt/core.h>

#include <array>
#include <span>
#include <string>
#include <string_view>

#include "engine/messages/family_from.h"

namespace dma {

struct Bernoulli : AnyNatural {
  static constexpr std::string_view kName = "bernoulli", kValues = "0 or 1";
  static constexpr bool kHasProbabilities = true;

  using AnyNatural::AnyNatural;
  // The message with this probability of x = 1.
  static Bernoulli from_probability(double p) {
    if (p <= 0 || p >= 1) return {p <= 0 ? 0.0 : 1.0, kInfinity};
    return {std::log(p) - std::log1p(-p), 0};
  }
  static void from_logs(std::span<const double> logs, Natural* message) {
    if (logs[0] == -kInfinity || logs[1] == -kInfinity) *message = {logs[1] == -kInfinity ? 0.0 : 1.0, kInfinity};
    else *message = {logs[1] - logs[0], 0};
  }
  static bool is_message(const Natural& m) {
    return m.is_point() ? m.tau == 0 || m.tau == 1 : m.rho == 0 && AnyNatural::is_message(m);
  }

  static double location(double x) { return x == 0 || x == 1 ? x : std::nan(""); }
  static std::array<double, 2> statistics(double x) { return {x, 0.0}; }
  bool is_proper() const { return rho == 0; }
  double log_normaliser() const { return std::log1p(std::exp(-std::abs(tau))) + std::max(tau, 0.0); }
  std::array<double, 2> expected() const { return {mean(), 0.0}; }
  double mean() const { return 1 / (1 + std::exp(-tau)); }
  double variance() const { return mean() / (1 + std::exp(tau)); }
  std::string text() const { return fmt::format("bernoulli({:.4g})", mean()); }
};

}  // namespace dma
