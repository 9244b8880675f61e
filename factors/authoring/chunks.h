// Splits slots into chunks whose working arrays fit on the stack and in the nearest cache.
#pragma once

#include <algorithm>
#include <cstddef>

namespace dma {

inline constexpr std::size_t kChunk = 32;

// Calls use(first, count) for one chunk after the other.
template <class Use>
void by_chunks(std::size_t slots, const Use& use) {
  for (std::size_t first = 0; first < slots; first += kChunk) use(first, std::min(kChunk, slots - first));
}

}  // namespace dma
