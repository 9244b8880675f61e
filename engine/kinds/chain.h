// Incidence, and the slots of a chain, one after the other: each may read messages of earlier ones. A slot reads at
// constant offsets, or as given by a table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/messages/gaussian.h"

namespace dma {

// The incidence of edge slots and variable elements, and the product of all messages at an element but one.
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

struct Outcome;
struct Call;

struct ChainSource {
  const double* tau = nullptr;
  const double* rho = nullptr;
  std::ptrdiff_t at = 0;  // slot s reads message at + s; with several components, those from at + s components on

  Natural message(std::ptrdiff_t slot) const { return {tau[at + slot], rho[at + slot]}; }
};

// The input of a port: the product of some messages, none of them its own.
struct ChainRead {
  const ChainSource* sources = nullptr;
  std::size_t count = 0;
  bool follows = false;  // the last source is the message (of one component) sent by the slot before
  std::uint32_t terms = 1;

  Natural product(std::ptrdiff_t slot) const { return product_with({}, slot, count); }
  // The same if the caller remembers the message sent by the slot before.
  [[gnu::always_inline]] Natural product_after(const Natural& sent, std::ptrdiff_t slot) const {
    return follows ? product_with(sent, slot, count - 1) : product_with({}, slot, count);
  }
  Natural sent_before(std::ptrdiff_t slot) const { return follows ? sources[count - 1].message(slot) : Natural(); }

 private:
  // Adds all messages before any check: in a chain each message waits for the one before.
  [[gnu::always_inline]] Natural product_with(Natural sum, std::ptrdiff_t slot, std::size_t first_sources) const {
    for (std::size_t i = 0; i < first_sources; ++i) {
      const Natural m = sources[i].message(slot);
      sum.tau += m.tau;
      sum.rho += m.rho;
    }
    return is_finite_sum(sum.tau, sum.rho) ? sum : product_one_by_one(slot);
  }
  [[gnu::noinline]] Natural product_one_by_one(std::ptrdiff_t slot) const {
    Natural product;
    for (std::size_t i = 0; i < count; ++i) product = multiply(product, sources[i].message(slot));
    return product;
  }
};

// The incidence of messages and elements, and earlier arrivals.
struct ChainTable {
  Incidence incidence = {};
  MessageArrays messages = {}, arrivals = {};
};

// The same by the table.
struct TableRead {
  std::uint32_t first_slot = 0;     // edge slot of the port's slot 0
  std::uint32_t first_arrival = 0;  // stored arrival of the port's slot 0, if any are stored
  std::uint32_t terms = 1;
  bool is_looked_up = true;  // otherwise it arrived earlier and was stored
  bool is_kept = false;      // for a later visit

  // q counts (slot, term) pairs of the port. Always inlined: a chain calls it for every message.
  [[gnu::always_inline]] Natural arrival(const ChainTable& table, std::uint32_t q) const {
    if (!is_looked_up) return table.arrivals[first_arrival + q];
    const Natural m = all_but(table.incidence, table.messages, first_slot + q);
    if (is_kept) table.arrivals.set(first_arrival + q, m);
    return m;
  }
};

// Slots first, first + step, ... (count of them). Reads are in the order of the message function's arguments.
struct ChainSegment {
  std::int64_t first = 0, step = 1;
  std::uint64_t count = 0;
  const ChainRead* reads = nullptr;        // at constant offsets
  const TableRead* table_reads = nullptr;  // by the table
  const ChainTable* table = nullptr;

  ChainSegment part(std::uint64_t begin, std::uint64_t slots) const {
    return {first + static_cast<std::int64_t>(begin) * step, step, slots, reads, table_reads, table};
  }
};

using ChainKernel = void (*)(const Call&, const ChainSegment&, Outcome&);
// Two independent segments with equally many slots, computed side by side: each message waits for the one before it,
// and the processor computes one segment while the other waits. Neither uses a table, and neither is tracked.
using ChainPairKernel = void (*)(const Call&, const ChainSegment&, Outcome&, const Call&, const ChainSegment&,
                                 Outcome&);

}  // namespace dma
