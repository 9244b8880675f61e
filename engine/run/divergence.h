// Whether an iteration runs away: its means grow by a factor again and again, and have done so for long.
//
// A converging iteration may take as long as it likes: its changes shrink, however slowly. In one that diverges,
// messages keep growing geometrically. So every message is looked at now and then, at intervals of an eighth of the
// sweeps made so far, and the bits its |mean| has gained without a pause are counted. Growth that ends, such as
// news arriving through a damped chain, or the slow approach of a large value (by a factor 9/8 an interval at most),
// never gets far; powers of any factor above 1 do, in time proportional to one over its logarithm.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/messages/arrays.h"

namespace dma {

// What is remembered of every message.
struct DivergenceRecord {
  std::int16_t level = 0;    // of |mean|, in eighths of a power of 2; kNoLevel: nothing to compare with
  std::uint16_t gained = 0;  // eighths of a bit without a pause
};

class Divergence {
 public:
  static constexpr int kFirstLook = 8;  // sweeps: news arrives in the first ones

  // On memory for all `messages`.
  Divergence(std::vector<DivergenceRecord>& records, const MessageArrays& messages)
      : records_(records), messages_(messages) {}

  // A sweep was made; true: the iteration runs away.
  bool runs_away(int sweep, double change);
  // At the limit less evidence is enough: no more is to come.
  bool was_growing() const { return most_gained_ >= kGrowing; }

 private:
  static constexpr int kBitsOfLevel = 3, kBit = 1 << kBitsOfLevel;  // level() counts eighths
  static constexpr int kGrows = 3;  // least gain of an interval: a factor of 1.15 to 1.37, by where eighths begin
  static constexpr int kCountedAtOnce = 4 * kBit;  // at least ten intervals must agree
  static constexpr int kRunsAway = 40 * kBit;   // 1e12: unscaled data may take a message up by 1e9 while it converges
  static constexpr int kGrowing = 6 * kBit;

  void look();

  std::vector<DivergenceRecord>& records_;
  MessageArrays messages_;
  int last_look_ = 0, next_look_ = kFirstLook;
  double largest_change_ = 0;  // since the last look
  bool is_first_ = true;       // nothing to compare with
  int most_gained_ = 0;
};

}  // namespace dma
