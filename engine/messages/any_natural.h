// Base of message types whose two natural parameters may have either sign, unlike a Gaussian's.
#pragma once

#include <algorithm>

#include "engine/messages/gaussian.h"

namespace dma {

struct AnyNatural : Natural {
  // Larger numbers are refused, so that no sum of messages overflows a double.
  static constexpr double kLargest = 1e290;

  constexpr AnyNatural() = default;
  constexpr AnyNatural(double first, double second) : Natural{first, second} {}
  constexpr explicit AnyNatural(const Natural& n) : Natural(n) {}

  static constexpr bool kIsLikeGaussian = false;

  bool is_uniform() const { return tau == 0 && rho == 0; }
  static bool is_message(const Natural& m) {
    return std::abs(m.tau) <= kLargest && (m.is_point() || std::abs(m.rho) <= kLargest);
  }
  // Relative for large numbers, absolute for those around 1 and below: log-odds and shapes have no unit.
  static double change(const Natural& before, const Natural& after) {
    if (before == after) return 0;
    if (before.is_point() || after.is_point()) return kInfinity;
    const auto of = [](double a, double b) { return std::abs(b - a) / (1 + std::max(std::abs(a), std::abs(b))); };
    return std::max(of(before.tau, after.tau), of(before.rho, after.rho));
  }
};

}  // namespace dma
