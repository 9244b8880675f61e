// Measures how far a message has moved.
#pragma once

#include <algorithm>

#include "engine/messages/gaussian.h"

namespace dma {

// The size of a change of message on a scale without units: the precision relatively, the location in standard
// deviations while it is within a few of zero and relatively farther out (where rounding alone exceeds any tolerance
// in standard deviations).
inline double change_between(const Natural& before, const Natural& after) {
  if (before == after) return 0;
  const double rho = std::max(std::abs(before.rho), std::abs(after.rho));
  if (rho == kInfinity) return kInfinity;
  const double tau = std::max(std::abs(before.tau), std::abs(after.tau));
  return std::max(std::abs(after.rho - before.rho) / rho, std::abs(after.tau - before.tau) / (std::sqrt(rho) + tau));
}

}  // namespace dma
