// One rule for how far a Gauss-Newton step dares to go, Levenberg's: delta = (L + mu D)^-1 g, and mu is raised until
// the objective falls.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>

#include "engine/learn/gaussian/program/row_model.h"

namespace dma {

// From epoch kFirstScaleEpoch on, the prior's scale follows the evidence by at most this factor per epoch.
inline constexpr int kFirstScaleEpoch = 4;
inline constexpr double kLargestScaleStep = 2, kLargestGroupStep = 10;

inline constexpr double kLeastDamping = 1e-4, kMostDamping = 1e8;

// Takes a step downhill from where the objective is `before` and has the slope -g: `step(mu)` is delta,
// objective(delta) what is found there. Afterwards mu is less where the quadratic model foretold the gain, more where
// it promised too much. Where the objective can fall by no more than rounding, a whole step (mu = 0) ends at the mode,
// and says nothing about mu. Returns the objective after the step; nothing: nowhere tried was it lower.
template <class Step, class Objective>
std::optional<double> gauss_newton_step(const Vector& g, double before, double& damping, const Step& step,
                                        const Objective& objective) {
  constexpr int kMostTries = 10;
  constexpr double kRounding = 1e-13;  // relative to the objective, a sum over rows
  const double nothing = kRounding * (1 + std::abs(before));
  for (int attempt = 0; attempt < kMostTries; ++attempt) {
    Vector delta = step(damping);
    bool is_nothing = attempt == 0 && delta.dot(g) < nothing;
    if (is_nothing) {
      Vector whole = step(0.0);
      is_nothing = whole.dot(g) < nothing;
      if (is_nothing) delta = std::move(whole);
    }
    const double after = objective(delta);
    if (std::isfinite(after) && (is_nothing ? after < before + nothing : after < before)) {
      if (is_nothing) return after;
      const double ratio = (before - after) / (0.5 * delta.dot(g));
      if (ratio > 0.6) damping /= 3;
      if (ratio < 0.25) damping = damping > 0 ? 2 * damping : 1;
      damping = std::clamp(damping, kLeastDamping, kMostDamping);
      return after;
    }
    damping = damping > 0 ? std::min(4 * damping, kMostDamping) : 1;
  }
  return {};
}

}  // namespace dma
