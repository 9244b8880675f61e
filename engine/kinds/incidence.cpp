#include "engine/kinds/incidence.h"

namespace dma {

Natural all_but_one_by_one(const Incidence& incidence, const MessageArrays& messages, std::uint32_t own) {
  Natural product;
  for (const std::uint32_t slot : incidence.at(incidence.element[own]))
    if (slot != own) product = multiply(product, messages[slot]);
  return product;
}

}  // namespace dma
