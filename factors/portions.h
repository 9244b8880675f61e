// Slots in portions whose working arrays fit on the stack and in the nearest cache.
#pragma once

#include <algorithm>
#include <cstddef>

namespace dma {

inline constexpr std::size_t kPortion = 32;

// use(first, count) for one portion after the other.
template <class Use>
void by_portions(std::size_t slots, const Use& use) {
  for (std::size_t first = 0; first < slots; first += kPortion) use(first, std::min(kPortion, slots - first));
}

}  // namespace dma
