// Detects an iteration that diverges: its means keep growing by a factor.
//
// A converging iteration may take any number of sweeps: its changes shrink, however slowly. In a diverging one,
// messages grow geometrically. So every message is checked at intervals of an eighth of the sweeps made so far, and the
// bits that its |mean| has gained without a pause are counted. Growth that ends, such as news that arrives through a
// damped chain, or the slow approach of a large value (by at most a factor 9/8 per interval), gains few bits; powers of
// any factor above 1 reach the threshold, in time proportional to one over its logarithm.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/messages/gaussian.h"

namespace dma {

// One record per message.
struct DivergenceRecord {
  std::int16_t level = 0;    // log2 |mean| in eighths; kNoLevel: nothing to compare with
  std::uint16_t gained = 0;  // eighths of a bit without a pause
};

class Divergence {
 public:
  static constexpr int kFirstLook = 8;  // sweeps: in earlier ones news still arrives

  // Uses memory for all `messages`.
  Divergence(std::vector<DivergenceRecord>& records, const MessageArrays& messages)
      : records_(records), messages_(messages) {}

  // Call after each sweep; returns true if the iteration diverges.
  bool runs_away(int sweep, double change);
  // At the sweep limit weaker evidence suffices, since no more can come.
  bool was_growing() const { return most_gained_ >= kGrowing; }

 private:
  static constexpr int kBitsOfLevel = 3, kBit = 1 << kBitsOfLevel;  // level() counts eighths
  // Least gain per interval: a factor of 1.15 to 1.37, depending on rounding to eighths.
  static constexpr int kGrows = 3;
  static constexpr int kCountedAtOnce = 4 * kBit;  // at least ten intervals must agree
  static constexpr int kRunsAway = 40 * kBit;      // 1e12: with unscaled data a converging message may grow by 1e9
  static constexpr int kGrowing = 6 * kBit;

  void look();

  std::vector<DivergenceRecord>& records_;
  MessageArrays messages_;
  int last_look_ = 0, next_look_ = kFirstLook;
  double largest_change_ = 0;  // since the last check
  bool is_first_ = true;       // nothing to compare with
  int most_gained_ = 0;
};

}  // namespace dma
