// The plate loop of a message function that has a quicker way for ordinary messages: one that computes a whole block of
// slots on plain arrays. It declines a block that holds anything out of the ordinary, and the message function itself then
// does that block; it stays the only one that knows every case.
#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/kinds/message_loop.h"

namespace dma {

// Consecutive slots of a plate of one row. The messages of each port, and the results, stand side by side, slot after slot.
struct SlotBlock {
  const Call& call;
  std::size_t first, slots;
  double *tau, *rho;  // the results
  double* spare;      // memory for two numbers for each message of the port with the most terms
  std::uint64_t& replaced;  // to be counted up

  const double* tau_of(std::size_t read) const { return call.reads[read].tau + call.reads[read].offset(0, first); }
  const double* rho_of(std::size_t read) const { return call.reads[read].rho + call.reads[read].offset(0, first); }
  const double* parameter(std::size_t i, std::size_t slot) const { return call.parameters[i].at(0, first + slot); }
};

// kBlock: bool(const SlotBlock&), false to decline.
template <class F, auto kBlock>
class BlockLoop {
 public:
  template <bool kTracked>
  static void plate(const Call& call, Outcome& outcome) {
    if (!is_side_by_side(call)) return MessageLoop<F>::template plate<kTracked>(call, outcome);
    std::size_t widest = call.out_terms;
    for (std::size_t i = 0; i < MessageLoop<F>::kReads; ++i) widest = std::max<std::size_t>(widest, call.reads[i].terms);
    const std::size_t capacity = std::max<std::size_t>(1, kBlockTerms / widest), results = capacity * call.out_terms;
    double* const memory = call.scratch;
    // Messages that are not tracked need not be compared with those before them, and are put where they belong at once.
    const bool in_place = !kTracked && is_apart(call);
    for (std::size_t first = 0; first < call.columns; first += capacity) {
      const std::ptrdiff_t out = call.out_offset(0, first);
      const SlotBlock block{call, first, std::min(capacity, call.columns - first), in_place ? call.sink.tau + out : memory,
                            in_place ? call.sink.rho + out : memory + results, memory + 2 * results, outcome.replaced};
      if (!kBlock(block))
        MessageLoop<F>::template columns<kTracked>(call, first, first + block.slots, outcome);
      else if (in_place)
        call.sink.check_stored(out, block.slots * call.out_terms, first, call.out_terms, outcome);
      else
        call.sink.template store_all<kTracked>(out, block.tau, block.rho, block.slots * call.out_terms, first, call.out_terms,
                                                outcome);
    }
  }

 private:
  static constexpr std::size_t kBlockTerms = 128;
  static_assert(4 * kBlockTerms <= kLeastScratch && 4 <= kScratchPerTerm);

  static bool is_side_by_side(const Call& call) {
    bool all = call.rows == 1 && call.out_column == static_cast<std::ptrdiff_t>(call.out_terms);
    for (std::size_t i = 0; i < MessageLoop<F>::kReads; ++i)
      all &= call.reads[i].column == static_cast<std::ptrdiff_t>(call.reads[i].terms);
    return all;
  }
  // A factor at the same variable twice may read what it writes.
  static bool is_apart(const Call& call) {
    const double *const begin = call.sink.tau, *const end = begin + call.columns * call.out_terms;
    bool all = true;
    for (std::size_t i = 0; i < MessageLoop<F>::kReads; ++i) {
      const PortView& read = call.reads[i];
      all &= (read.tau >= end) | (read.tau + call.columns * read.terms <= begin);
    }
    return all;
  }
};

}  // namespace dma
