// Whether the changes of an iteration that did not converge are shrinking.
#pragma once

#include <algorithm>

namespace dma {

// Compares the largest change in the last quarter of the sweeps with that in the quarter before. Means that grow
// geometrically change by a constant share of themselves each sweep; a converging iteration changes by less and less.
class Trend {
 public:
  explicit Trend(int limit) : quarter_(std::max(1, limit / 4)), limit_(limit) {}

  void add(int sweep, double change) {
    // The first message on an edge counts as a change of exactly 1 (infinite for a point mass): news, not growth.
    if (change == 1 || change > kLargest) return;
    if (sweep > limit_ - quarter_) late_ = std::max(late_, change);
    else if (sweep > limit_ - 2 * quarter_) early_ = std::max(early_, change);
  }
  bool grows() const { return late_ > kVisible && early_ > 0 && late_ >= kConstant * early_; }

 private:
  static constexpr double kLargest = 1e300;
  static constexpr double kVisible = 1e-6;   // slower growth than this per sweep stays unseen within any limit
  static constexpr double kConstant = 0.99;  // an oscillation does not peak equally high in both quarters
  int quarter_, limit_;
  double early_ = 0, late_ = 0;
};

}  // namespace dma
