// Products of messages at variables, which arrive at factors. Plain loops over arrays; no allocation.
#pragma once

#include "engine/compile/compile.h"
#include "engine/kinds/chain.h"

namespace dma {

// out[i] = product of the sources' messages at element i of the variable.
void combine(const Combine& op, const MessageArrays& messages, const MessageArrays& out);

// Totals per element, valid while `current` is unchanged.
struct ElementTotals {
  double* tau = nullptr;
  double* rho = nullptr;
  double* magnitude = nullptr;  // sum of |tau|
  std::uint32_t* stamp = nullptr;
  std::uint32_t current = 0;
};

// out[k] = product of all messages at the element of slot first_slot + k, without that slot's own, for k < count.
// Linear in the number of slots met: total minus own where that is safe, direct sums for the at most two slots of an
// element where it is not (see all_but_own). If the slots repeat the same `row` of neighbouring elements (0: they do
// not), a whole row is done at once.
void leave_one_out(std::uint32_t first_slot, std::uint32_t count, std::uint32_t row, const Incidence& incidence,
                   const MessageArrays& messages, const ElementTotals& totals, const MessageArrays& out);

}  // namespace dma
