#include "engine/compile/recurrence.h"

#include <algorithm>
#include <numeric>

namespace dma {

namespace {

std::int64_t floor_of(std::int64_t a, std::int64_t positive) {
  return a >= 0 ? a / positive : -((-a + positive - 1) / positive);
}

// Value v at slot s is computed at moment s N + phase[v], N = values + 1, and after all it needs:
//
//   s N + phase[of] >= (s - distance) N + phase[on] + 1,    that is    phase[on] <= phase[of] + distance N - 1.
//
// These are the inequalities of shortest paths, solved by relaxation unless a cycle of n <= values needs has
// N * (sum of its distances) - n < 0, that is, a sum of 0 or less.
std::optional<std::vector<std::int64_t>> find_phases(std::uint32_t values, std::span<const Need> needs, int step) {
  const std::int64_t moments = std::int64_t{values} + 1;
  std::vector<std::int64_t> phase(values, 0);
  for (std::uint32_t round = 0; round <= values; ++round) {
    bool changed = false;
    for (const Need& need : needs) {
      const std::int64_t latest = phase[need.of] + step * need.distance * moments - 1;
      if (phase[need.on] > latest) phase[need.on] = latest, changed = true;
    }
    if (!changed) return phase;
  }
  return {};
}

}  // namespace

std::optional<Pace> find_pace(std::uint32_t values, std::span<const Need> needs) {
  for (const int step : {1, -1})
    if (const auto phase = find_phases(values, needs, step)) {
      Pace pace{step, std::vector<std::uint32_t>(values), std::vector<std::int64_t>(values)};
      const std::int64_t moments = std::int64_t{values} + 1;
      // Downwards, slot -s is what slot s is upwards.
      for (std::uint32_t v = 0; v < values; ++v) pace.offset[v] = step * floor_of((*phase)[v], moments);
      std::iota(pace.order.begin(), pace.order.end(), 0u);
      std::ranges::stable_sort(pace.order, {}, [&](std::uint32_t v) {
        return (*phase)[v] - floor_of((*phase)[v], moments) * moments;
      });
      return pace;
    }
  return {};
}

}  // namespace dma
