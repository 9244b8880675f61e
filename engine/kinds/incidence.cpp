#include "engine/kinds/chain.h"

#include <algorithm>

namespace dma {

// Counting sort: counts, sums, and places every slot; `first` is then shifted by one element.
void sort_by_element(std::span<const std::uint32_t> element_of_slot, std::span<std::uint32_t> first,
                     std::span<std::uint32_t> slots) {
  std::ranges::fill(first, 0u);
  for (const std::uint32_t e : element_of_slot) ++first[e + 1];
  for (std::size_t e = 1; e < first.size(); ++e) first[e] += first[e - 1];
  for (std::uint32_t slot = 0; slot < element_of_slot.size(); ++slot) slots[first[element_of_slot[slot]]++] = slot;
  std::copy_backward(first.begin(), first.end() - 1, first.end());
  first[0] = 0;
}

Natural all_but_one_by_one(const Incidence& incidence, const MessageArrays& messages, std::uint32_t own) {
  Natural product;
  for (const std::uint32_t slot : incidence.at(incidence.element[own]))
    if (slot != own) product = multiply(product, messages[slot]);
  return product;
}

}  // namespace dma
