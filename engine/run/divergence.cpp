#include "engine/run/divergence.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace dma {

namespace {

constexpr std::int16_t kNoLevel = std::numeric_limits<std::int16_t>::min();

// The exponent and leading mantissa bits of a double: a sufficiently accurate logarithm at little cost.
std::int16_t level(double mean, int bits) {
  constexpr int kMantissa = 52;
  return mean > 0 && mean < kInfinity
             ? static_cast<std::int16_t>(std::bit_cast<std::uint64_t>(mean) >> (kMantissa - bits))
             : kNoLevel;
}

}  // namespace

bool Divergence::runs_away(int sweep, double change) {
  largest_change_ = std::max(largest_change_, change);
  if (sweep < next_look_) return false;
  const int interval = std::max(1, sweep - last_look_);
  // A mean that grows by a sixth within the interval changes its parameters by more than this in one sweep.
  const bool may_grow = largest_change_ > 0.02 / interval;
  last_look_ = sweep;
  next_look_ = sweep + std::max(1, sweep / 8);
  largest_change_ = 0;
  most_gained_ = 0;
  if (may_grow) look();
  is_first_ = !may_grow;
  return most_gained_ >= kRunsAway;
}

void Divergence::look() {
  for (std::size_t i = 0; i < records_.size(); ++i) {
    const Natural m = messages_[i];
    DivergenceRecord& record = records_[i];
    const double mean = m.is_proper() ? std::abs(m.tau / m.rho) : 0;
    const std::int16_t now = level(mean, kBitsOfLevel);
    int gain = is_first_ || now == kNoLevel || record.level == kNoLevel ? 0 : now - record.level;
    // Changes within a standard deviation of zero are noise.
    if (gain < kGrows || mean * (1 - std::exp2(-gain / double{kBit})) * std::sqrt(m.rho) < 1) gain = 0;
    const int gained = gain == 0 ? 0 : record.gained + std::min(gain, kCountedAtOnce);
    record.level = now;
    record.gained = static_cast<std::uint16_t>(is_first_ ? 0 : std::min(gained, kRunsAway));
    most_gained_ = std::max<int>(most_gained_, record.gained);
  }
}

}  // namespace dma
