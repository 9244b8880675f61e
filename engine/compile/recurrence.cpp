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

// Tarjan's algorithm on a stack of its own: a part is complete when the search leaves the first of its values.
std::vector<std::vector<std::uint32_t>> strong_parts(std::uint32_t values, std::span<const Need> needs) {
  std::vector<std::uint32_t> first(values + 1), needed(needs.size());
  for (const Need& need : needs) ++first[need.of + 1];
  std::partial_sum(first.begin(), first.end(), first.begin());
  std::vector<std::uint32_t> next(first.begin(), first.end() - 1);
  for (const Need& need : needs) needed[next[need.of]++] = need.on;
  std::copy(first.begin(), first.end() - 1, next.begin());

  std::vector<std::vector<std::uint32_t>> parts;
  std::vector<std::uint32_t> found(values), lowest(values), path,
      open;  // found: 0 before, then by the order of finding
  std::vector<bool> is_open(values);
  std::uint32_t count = 0;
  for (std::uint32_t start = 0; start < values; ++start) {
    if (found[start] == 0) path.push_back(start);
    while (!path.empty()) {
      const std::uint32_t v = path.back();
      if (found[v] == 0) {
        found[v] = lowest[v] = ++count;
        open.push_back(v), is_open[v] = true;
      }
      if (next[v] < first[v + 1]) {
        const std::uint32_t w = needed[next[v]++];
        if (found[w] == 0) path.push_back(w);
        else if (is_open[w]) lowest[v] = std::min(lowest[v], found[w]);
        continue;
      }
      path.pop_back();
      if (!path.empty()) lowest[path.back()] = std::min(lowest[path.back()], lowest[v]);
      if (lowest[v] != found[v]) continue;
      auto begin = open.end() - 1;  // from the end: all later ones belong to it
      while (*begin != v) --begin;
      for (auto member = begin; member != open.end(); ++member) is_open[*member] = false;
      parts.emplace_back(begin, open.end());
      open.erase(begin, open.end());
      std::ranges::sort(parts.back());
    }
  }
  return parts;
}

}  // namespace dma
