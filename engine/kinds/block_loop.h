// The plate loop of a message function with a faster form for ordinary messages, which computes a whole block of slots
// on plain arrays. The block form declines a block with unusual messages, and the message function computes that block;
// only the function handles every case.
#pragma once

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <type_traits>

#include "engine/kinds/message_loop.h"

namespace dma {

// Consecutive slots of a plate of one row. The messages of each port, and the results, are stored slot by slot.
struct SlotBlock {
  const Call& call;
  std::size_t first, slots;
  double *tau, *rho;  // the results
  double* spare;      // buffer for two numbers per message of the port with the most terms
  std::uint64_t& replaced;  // counter to increase

  const double* tau_of(std::size_t read) const { return call.reads[read].tau + call.reads[read].offset(0, first); }
  const double* rho_of(std::size_t read) const { return call.reads[read].rho + call.reads[read].offset(0, first); }
  const double* parameter(std::size_t i, std::size_t slot) const { return call.parameters[i].at(0, first + slot); }
};

// kBlock: bool(const SlotBlock&), returns false to decline.
template <class F, auto kBlock>
class BlockLoop {
 public:
  static void plate(const Call& call, Outcome& outcome) {
    constexpr std::size_t kLeastColumns = 16;  // in shorter rows the overhead of a block is too large
    if (!is_side_by_side(call)) return MessageLoop<F>::plate(call, outcome);
    if (call.rows == 1) return row(call, outcome);
    if (binds_itself(std::type_identity<typename detail::Signature<F>::Arguments>()))
      return MessageLoop<F>::plate(call, outcome);
    if (is_one_long_row(call)) {
      Part part(call);
      part.call.columns = call.rows * call.columns;
      return row(part.call, outcome);
    }
    if (call.columns < kLeastColumns) return MessageLoop<F>::plate(call, outcome);
    Part part(call);
    for (std::size_t r = 0; r < call.rows; ++r, part.go_on(call)) {
      Outcome own = outcome;
      own.faults = 0;
      own.first_fault = Outcome::kNone;
      row(part.call, own);
      if (own.faults > 0) own.first_fault += r * call.columns;
      own.faults += outcome.faults;
      own.first_fault = std::min(own.first_fault, outcome.first_fault);
      outcome = own;
    }
  }

 private:
  static constexpr std::size_t kReads = MessageLoop<F>::kReads;

  // Its parameters are bound by themselves from all views, which a part does not have.
  template <class... A>
  static constexpr bool binds_itself(std::type_identity<std::tuple<A...>>) {
    return (requires(const ParameterRow& row) { A::bind(row); } || ...);
  }

  // A part of one row of a plate, as a plate of its own.
  struct Part {
    explicit Part(const Call& whole) : call(whole) {
      std::copy_n(whole.reads, kReads, reads);
      std::copy_n(whole.parameters, kParameters, parameters);
      call.rows = 1;
      call.reads = reads;
      call.parameters = parameters;
    }
    Part(const Part&) = delete;
    Part& operator=(const Part&) = delete;

    void go_on(const Call& whole) {
      for (std::size_t i = 0; i < kReads; ++i) {
        reads[i].tau += reads[i].row;
        reads[i].rho += reads[i].row;
      }
      for (std::size_t i = 0; i < kParameters; ++i) parameters[i].values += parameters[i].row;
      call.sink.tau += whole.out_row;
      call.sink.rho += whole.out_row;
      if (call.memory != nullptr) call.memory += whole.columns * whole.memory_size;
    }

    static constexpr std::size_t kParameters = MessageLoop<F>::parameter_count();
    PortView reads[kReads + 1];
    ParameterView parameters[kParameters + 1];
    Call call;
  };

  static void row(const Call& call, Outcome& outcome) {
    std::size_t widest = call.out_terms;
    for (std::size_t i = 0; i < kReads; ++i) widest = std::max<std::size_t>(widest, call.reads[i].terms);
    const std::size_t capacity = std::max<std::size_t>(1, kBlockTerms / widest), results = capacity * call.out_terms;
    double* const memory = call.scratch;
    // Untracked messages need no comparison with earlier ones, and are written in place.
    const bool in_place = !call.sink.is_tracked && is_apart(call);
    for (std::size_t first = 0; first < call.columns; first += capacity) {
      const std::ptrdiff_t out = call.out_offset(0, first);
      const SlotBlock block{call,
                            first,
                            std::min(capacity, call.columns - first),
                            in_place ? call.sink.tau + out : memory,
                            in_place ? call.sink.rho + out : memory + results,
                            memory + 2 * results,
                            outcome.replaced};
      if (!kBlock(block))
        MessageLoop<F>::columns(call, first, first + block.slots, outcome);
      else if (in_place)
        call.sink.check_stored(out, block.slots * call.out_terms, first, call.out_terms, outcome);
      else
        call.sink.store_all(out, block.tau, block.rho, block.slots * call.out_terms, first,
                                               call.out_terms, outcome);
    }
  }

  static constexpr std::size_t kBlockTerms = 128;
  static_assert(4 * kBlockTerms <= kLeastScratch && 4 <= kScratchPerTerm);

  static bool is_side_by_side(const Call& call) {
    bool all = call.out_column == static_cast<std::ptrdiff_t>(call.out_terms);
    for (std::size_t i = 0; i < kReads; ++i)
      all &= call.reads[i].column == static_cast<std::ptrdiff_t>(call.reads[i].terms);
    return all;
  }
  // True if the rows share nothing and are contiguous.
  static bool is_one_long_row(const Call& call) {
    const auto columns = static_cast<std::ptrdiff_t>(call.columns);
    bool all = call.out_row == columns * call.out_column;
    for (std::size_t i = 0; i < kReads; ++i) all &= call.reads[i].row == columns * call.reads[i].column;
    for (std::size_t i = 0; i < MessageLoop<F>::parameter_count(); ++i)
      all &= call.parameters[i].row == columns * call.parameters[i].column;
    return all;
  }
  // False if a factor with the same variable at two ports may read its own results.
  static bool is_apart(const Call& call) {
    const double *const begin = call.sink.tau, *const end = begin + call.columns * call.out_terms;
    bool all = true;
    for (std::size_t i = 0; i < kReads; ++i) {
      const PortView& read = call.reads[i];
      all &= (read.tau >= end) | (read.tau + call.columns * read.terms <= begin);
    }
    return all;
  }
};

}  // namespace dma
