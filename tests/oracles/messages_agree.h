// The distance between two messages, on the scale of rounding errors.
#pragma once

#include <algorithm>
#include <cmath>

#include "engine/messages/family.h"

namespace dma::oracle {

// 0 for equal messages; otherwise the larger of the relative difference of the precisions and the difference of the
// means in units of max(|mean|, sd) (means cross zero, where no relative error is bounded). Infinite if one is uniform
// or a point mass and the other is not.
inline double distance(const Natural& a, const Natural& b) {
  if (a == b) return 0;
  const Gaussian p(a), q(b);
  if (p.is_point() && q.is_point())
    return std::abs(p.tau - q.tau) / std::max({std::abs(p.tau), std::abs(q.tau), 1e-300});
  if (!p.is_proper() || !q.is_proper()) return kInfinity;
  const double scale = std::max(std::abs(p.mean()), p.sd());
  return std::max(std::abs(p.rho - q.rho) / p.rho, std::abs(p.mean() - q.mean()) / scale);
}

// The factor by which dividing a belief by a message magnifies its rounding: a small difference has the rounding of
// large numbers.
inline double loss_by_division(const Natural& arrived, const Natural& quotient) {
  if (!Gaussian(arrived).is_proper() || !Gaussian(quotient).is_proper()) return 1;
  const double size = std::abs(quotient.tau) + std::sqrt(quotient.rho);
  return 1 + arrived.rho / quotient.rho + std::abs(arrived.tau) / size;
}

inline double distance(const Belief& a, const Belief& b) {
  if (a.size() != b.size()) return kInfinity;
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) worst = std::max(worst, distance(a[i], b[i]));
  return worst;
}

}  // namespace dma::oracle
