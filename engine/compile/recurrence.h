// Recurrences along plates: values that need each other at constant distances, such as the messages of a chain, each of
// which needs the one before it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace dma {

// Value `of` at slot s needs value `on` at slot s - distance.
struct Need {
  std::uint32_t of, on;
  std::int64_t distance;
};

// An order in which a recurrence can be walked: at each time, every value of `order` in turn, value v at slot
// time - offset[v]; time goes up (step 1) or down (step -1).
struct Pace {
  int step = 1;
  std::vector<std::uint32_t> order;
  std::vector<std::int64_t> offset;
};

// The pace of a recurrence of `values` values. There is one if and only if the distances around every cycle sum to a
// positive number, or around every cycle to a negative one.
std::optional<Pace> find_pace(std::uint32_t values, std::span<const Need> needs);

// The parts of a recurrence that need each other, each after those it needs.
std::vector<std::vector<std::uint32_t>> strong_parts(std::uint32_t values, std::span<const Need> needs);

}  // namespace dma
