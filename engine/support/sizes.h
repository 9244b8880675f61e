// The only arithmetic for sizes: elements, slots, terms and messages are counted in 32 bits, and a sum or product that
// does not fit is an Error, never a wrapped number.
#pragma once

#include <cstdint>

#include "engine/support/text.h"

namespace dma {

// Sizes leave out the largest number, which is kNowhere.
inline constexpr std::uint64_t kLargestSize = 0xfffffffeu;
// Marks an index that refers to nothing.
inline constexpr std::uint32_t kNowhere = 0xffffffffu;

// The size as stored. `what` describes the counted quantity, and is called for an error only: [&] { return
// fmt::format("variable '{}': the elements of the graph", name); }.
template <class What>
std::uint32_t checked_size(std::uint64_t size, const What& what) {
  if (size > kLargestSize) [[unlikely]]
    fail("{} number {}, more than the {} a plan can count; make it smaller, or split the model", what(), size,
         kLargestSize);
  return static_cast<std::uint32_t>(size);
}

// None of these wraps: the arguments have 32 bits, sums and products 64.
template <class What>
std::uint32_t add_sizes(std::uint32_t a, std::uint32_t b, const What& what) {
  return checked_size(std::uint64_t{a} + b, what);
}
template <class What>
std::uint32_t multiply_sizes(std::uint32_t a, std::uint32_t b, const What& what) {
  return checked_size(std::uint64_t{a} * b, what);
}

}  // namespace dma
