// How far a proximal step dares to go: mu of (L + mu diag lambda)^-1 g, Levenberg's rule.
#pragma once

#include <algorithm>

namespace dma {

inline constexpr int kMostTries = 10;  // of one step
// From epoch kFirstScaleEpoch on, the prior's scale follows the evidence by at most this factor an epoch.
inline constexpr int kFirstScaleEpoch = 4;
inline constexpr double kLargestScaleStep = 2, kLargestGroupStep = 10;

inline constexpr double kLeastDamping = 1e-4, kMostDamping = 1e8;

// After a step that was taken: less where the quadratic model foretold its gain, more where it promised too much.
inline double damping_after(double damping, double gained, double foretold) {
  const double ratio = gained / foretold;
  if (ratio > 0.6) damping /= 3;
  if (ratio < 0.25) damping *= 2;
  return std::clamp(damping, kLeastDamping, kMostDamping);
}

// After one that was not.
inline double raised(double damping) { return std::min(4 * damping, kMostDamping); }

}  // namespace dma
