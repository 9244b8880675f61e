// The incidence of edge slots and variable elements, and the product of all messages at an element but one.
#pragma once

#include <cstdint>
#include <span>

#include "engine/messages/arrays.h"

namespace dma {

struct Incidence {
  const std::uint32_t* first = nullptr;    // element -> index of its first slot in `slots`; one more at the end
  const std::uint32_t* slots = nullptr;    // slots, grouped by element
  const std::uint32_t* element = nullptr;  // slot -> element

  std::uint32_t count_at(std::size_t e) const { return first[e + 1] - first[e]; }
  std::span<const std::uint32_t> at(std::size_t e) const { return {slots + first[e], slots + first[e + 1]}; }
};

// Groups the slots by element, in their order: `first` has one entry more than there are elements.
void sort_by_element(std::span<const std::uint32_t> element_of_slot, std::span<std::uint32_t> first,
                     std::span<std::uint32_t> slots);

// all_but, message by message: used if a sum overflows.
Natural all_but_one_by_one(const Incidence& incidence, const MessageArrays& messages, std::uint32_t own);

// The product of all messages at the element of `own` except that of `own`, summed directly: nothing is subtracted, so
// a dominant message does not cost the others their digits. Inlined because a chain calls it for every message.
[[gnu::always_inline]] inline Natural all_but(const Incidence& incidence, const MessageArrays& messages,
                                              std::uint32_t own) {
  const std::uint32_t e = incidence.element[own];
  Natural sum;
  for (std::uint32_t k = incidence.first[e]; k != incidence.first[e + 1]; ++k) {
    const std::uint32_t slot = incidence.slots[k];
    if (slot == own) continue;
    const Natural m = messages[slot];
    if (m.is_point()) return m;
    sum.tau += m.tau;
    sum.rho += m.rho;
  }
  if (!is_finite_sum(sum.tau, sum.rho)) [[unlikely]] return all_but_one_by_one(incidence, messages, own);
  return sum;
}

}  // namespace dma
