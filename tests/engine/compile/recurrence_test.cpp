#include "engine/compile/recurrence.h"

#include <doctest/doctest.h>

#include <map>
#include <random>

using namespace dma;

namespace {

// Follows the pace over `slots` slots of every value and checks that every input was available.
bool is_right(const Pace& pace, std::uint32_t values, const std::vector<Need>& needs, std::int64_t slots) {
  std::map<std::pair<std::uint32_t, std::int64_t>, bool> done;
  std::int64_t low = 0, high = 0;
  for (std::uint32_t v = 0; v < values; ++v)
    low = std::min(low, pace.offset[v]), high = std::max(high, pace.offset[v] + slots);
  for (std::int64_t k = low; k < high; ++k)
    for (const std::uint32_t v : pace.order) {
      const std::int64_t slot = (pace.step > 0 ? k : low + high - 1 - k) - pace.offset[v];
      if (slot < 0 || slot >= slots) continue;
      for (const Need& need : needs) {
        const std::int64_t other = slot - need.distance;
        if (need.of == v && other >= 0 && other < slots && !done[{need.on, other}]) return false;
      }
      done[{v, slot}] = true;
    }
  return static_cast<std::int64_t>(done.size()) >= slots * values;
}

// True if a cycle leads back to the same slot, or cycles lead both up and down.
bool goes_both_ways(std::uint32_t values, const std::vector<Need>& needs) {
  bool positive = false, negative = false, zero = false;
  std::vector<bool> on_path(values);
  const auto follow = [&](const auto& self, std::uint32_t start, std::uint32_t at, std::int64_t sum) -> void {
    for (const Need& need : needs) {
      if (need.of != at) continue;
      const std::int64_t next = sum + need.distance;
      if (need.on == start)
        (next > 0 ? positive : next < 0 ? negative : zero) = true;
      else if (!on_path[need.on]) {
        on_path[need.on] = true;
        self(self, start, need.on, next);
        on_path[need.on] = false;
      }
    }
  };
  for (std::uint32_t v = 0; v < values; ++v) {
    on_path.assign(values, false);
    on_path[v] = true;
    follow(follow, v, v, 0);
  }
  return zero || (positive && negative);
}

}  // namespace

TEST_CASE("recurrence: a value that needs the one before it is walked up, the one after it down") {
  const std::vector<Need> before{{0, 0, 1}}, after{{0, 0, -1}}, both{{0, 0, 1}, {0, 0, -1}}, itself{{0, 0, 0}};
  CHECK(find_pace(1, before)->step == 1);
  CHECK(find_pace(1, after)->step == -1);
  CHECK(!find_pace(1, both));
  CHECK(!find_pace(1, itself));
}

TEST_CASE("recurrence: a pace exists where all cycles go one way, and computes everything before it is needed") {
  std::mt19937_64 random(11);
  int found = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    const auto values = static_cast<std::uint32_t>(1 + random() % 5);
    std::vector<Need> needs;
    for (std::size_t n = random() % (2 * values + 1); n-- > 0;)
      needs.push_back({static_cast<std::uint32_t>(random() % values), static_cast<std::uint32_t>(random() % values),
                       static_cast<std::int64_t>(random() % 5) - (trial % 2 == 0 ? 1 : 3)});
    const auto pace = find_pace(values, needs);
    REQUIRE(pace.has_value() == !goes_both_ways(values, needs));
    if (!pace) continue;
    ++found;
    REQUIRE(is_right(*pace, values, needs, 12));
  }
  CHECK(found > 300);
}

TEST_CASE("recurrence: strong parts come after what they need") {
  const std::vector<Need> needs{{0, 1, 1}, {1, 0, 0}, {1, 2, 0}, {3, 0, 2}};
  const auto parts = strong_parts(4, needs);
  REQUIRE(parts.size() == 3);
  CHECK(parts[0] == std::vector<std::uint32_t>{2});
  CHECK(parts[1] == std::vector<std::uint32_t>{0, 1});
  CHECK(parts[2] == std::vector<std::uint32_t>{3});
}
