// The input of a message kernel: views of the arriving messages, the parameters and the place of the results, for a
// plate of rows x columns slots. The engine fills it once per plan.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "engine/messages/gaussian.h"

namespace dma {

inline constexpr std::size_t kMaxParameters = 8;
// Doubles of working memory of a kernel per term of each port.
inline constexpr std::uint32_t kScratchPerTerm = 16;
// ... and the minimum, so that it can compute several slots of few terms at once; larger for plates with many such
// slots.
inline constexpr std::uint32_t kLeastScratch = 704, kManyTerms = 128, kScratchOfMany = 2816;

// Messages of one port: slot (r, c) starts at offset r * row + c * column and holds `terms` consecutive messages
// (1 unless the port is variadic). A stride of 0 shares one message along that direction.
struct PortView {
  const double* tau = nullptr;
  const double* rho = nullptr;
  std::ptrdiff_t row = 0, column = 0;
  std::uint32_t terms = 1;

  Natural at(std::size_t r, std::size_t c, std::size_t term = 0) const {
    const std::ptrdiff_t i = offset(r, c) + static_cast<std::ptrdiff_t>(term);
    return {tau[i], rho[i]};
  }
  std::ptrdiff_t offset(std::size_t r, std::size_t c) const {
    return static_cast<std::ptrdiff_t>(r) * row + static_cast<std::ptrdiff_t>(c) * column;
  }
};

struct ParameterView {
  const double* values = nullptr;
  std::ptrdiff_t row = 0, column = 0;
  std::uint32_t terms = 1;

  const double* at(std::size_t r, std::size_t c) const {
    return values + static_cast<std::ptrdiff_t>(r) * row + static_cast<std::ptrdiff_t>(c) * column;
  }
};

// The parameters of one slot, in the order in which the kind declares them.
struct ParameterRow {
  const ParameterView* views;
  std::size_t r, c;

  double number(std::size_t i) const { return *views[i].at(r, c); }
  std::span<const double> terms(std::size_t i) const { return {views[i].at(r, c), views[i].terms}; }
};

// Results of a kernel call besides messages. Slots count from the first of the plate.
struct Outcome {
  static constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t faults = 0;
  std::uint64_t first_fault = kNone;
  std::uint64_t replaced = 0;  // messages replaced by those of another method, see OrFallback
  double change = 0;
  bool overflowed = false;  // a message that grew without bound overflowed
  bool has_widening = false;  // a message of negative precision was stored

  void fault(std::uint64_t slot) {
    ++faults;
    first_fault = std::min(first_fault, slot);
  }
  // change = max(change, change_between(before, after)). Most messages change less than the largest so far, which is
  // tested without a division: |d tau| <= change (sqrt(rho) + |tau|), squared if the right-hand side is not large
  // enough yet. That test is inlined into every loop; the rest is a call.
  [[gnu::always_inline]] void note_change(const Natural& before, const Natural& after) {
    if (!is_no_larger(before, after)) [[unlikely]] note_large_change(before, after);
  }
  // True if a message changes by no more than the largest change so far.
  [[gnu::always_inline]] bool is_no_larger(const Natural& before, const Natural& after) const {
    const double rho = std::max(before.rho, after.rho), tau = std::max(std::abs(before.tau), std::abs(after.tau));
    const double beyond = std::abs(after.tau - before.tau) - change * tau;
    constexpr double kSquarable = 1e-150;  // below it, squares underflow
    return (std::abs(after.rho - before.rho) <= change * rho) &
           ((beyond <= 0) | ((beyond > kSquarable) & (beyond * beyond <= change * change * rho)));
  }

 private:
  [[gnu::noinline]] void note_large_change(const Natural& before, const Natural& after) {
    change = std::max(change, change_between(before, after));
    // Products and message functions replace an overflow by a point mass or the uniform message. A proper message whose
    // squares were about to overflow, and which is now one of these, overflowed.
    constexpr double kNextToOverflow = 1e150;
    if (before.is_proper() && !after.is_proper() &&
        std::max({before.rho, std::abs(before.tau), std::abs(before.tau) / before.rho}) > kNextToOverflow)
      overflowed = true;
  }
};

// Keeps the fraction `damping` of the old message, in natural parameters. Point masses are not damped.
inline Natural damped(const Natural& before, const Natural& after, double damping) {
  if (before.is_point() || after.is_point()) return after;
  const Natural mixed{after.tau + damping * (before.tau - after.tau), after.rho + damping * (before.rho - after.rho)};
  // Otherwise a difference overflowed, or the last digit of a precision was lost.
  return is_valid(mixed) || (widens(mixed) && (widens(before) || widens(after))) ? mixed : after;
}

// Destination of the results. An invalid message is refused and counted as a fault: a tracked one keeps its old value,
// others become uniform.
struct Sink {
  double* tau = nullptr;
  double* rho = nullptr;
  double damping = 0;
  bool is_tracked = false;  // the old message is present: the new one is damped, and its change is recorded
  // Stores messages of negative precision: their method divides by the message that arrives on the same edge.
  bool keeps_widening = false;

  // Always inlined: called for every message. kTracked is known to the caller.
  template <bool kTracked>
  [[gnu::always_inline]] void store(std::ptrdiff_t i, Natural message, std::uint64_t slot, Outcome& outcome) const {
    if (!is_valid(message)) [[unlikely]] {
      if (!(keeps_widening && widens(message))) {
        outcome.fault(slot);
        if constexpr (!kTracked) tau[i] = rho[i] = 0;
        return;
      }
      outcome.has_widening = true;
    }
    if constexpr (kTracked) {
      const Natural before{tau[i], rho[i]};
      message = damped(before, message, damping);
      outcome.note_change(before, message);
    }
    tau[i] = message.tau;
    rho[i] = message.rho;
  }
  void store(std::ptrdiff_t i, const Natural& message, std::uint64_t slot, Outcome& outcome) const {
    if (is_tracked) store<true>(i, message, slot, outcome);
    else store<false>(i, message, slot, outcome);
  }

  // For a message type with its own rules of validity.
  template <bool kTracked, class Message>
  void store_by_rules(std::ptrdiff_t i, const Message& given, std::uint64_t slot, Outcome& outcome) const {
    if (!Message::is_message(given)) [[unlikely]] {
      outcome.fault(slot);
      if constexpr (!kTracked) tau[i] = rho[i] = 0;
      return;
    }
    Natural message = given;
    if constexpr (kTracked) {
      const Natural before{tau[i], rho[i]};
      if (damping != 0 && !before.is_point() && !message.is_point()) {
        const Natural mixed{message.tau + damping * (before.tau - message.tau),
                            message.rho + damping * (before.rho - message.rho)};
        if (Message::is_message(mixed)) message = mixed;
      }
      outcome.change = std::max(outcome.change, Message::change(before, message));
    }
    tau[i] = message.tau;
    rho[i] = message.rho;
  }

  // Contiguous messages, `terms` per slot. If all are valid and none changed more than earlier ones, they are checked
  // and copied without a branch per message.
  void store_all(std::ptrdiff_t first, const double* new_tau, const double* new_rho, std::size_t count,
                 std::uint64_t first_slot, std::uint32_t terms, Outcome& outcome) const {
    if (is_tracked ? are_ordinary<true>(first, new_tau, new_rho, count, outcome)
                   : are_ordinary<false>(first, new_tau, new_rho, count, outcome)) {
      std::copy_n(new_tau, count, tau + first);
      std::copy_n(new_rho, count, rho + first);
      return;
    }
    Outcome noted = outcome;  // a copy, which cannot alias the stored messages
    for (std::size_t i = 0; i < count; ++i)
      store(first + static_cast<std::ptrdiff_t>(i), {new_tau[i], new_rho[i]}, first_slot + i / terms, noted);
    outcome = noted;
  }
  // Untracked messages that are already in place.
  void check_stored(std::ptrdiff_t first, std::size_t count, std::uint64_t first_slot, std::uint32_t terms,
                    Outcome& outcome) const {
    if (are_ordinary<false>(first, tau + first, rho + first, count, outcome)) return;
    for (std::size_t i = 0; i < count; ++i) {
      const std::ptrdiff_t at = first + static_cast<std::ptrdiff_t>(i);
      store<false>(at, {tau[at], rho[at]}, first_slot + i / terms, outcome);
    }
  }

 private:
  template <bool kTracked>
  bool are_ordinary(std::ptrdiff_t first, const double* new_tau, const double* new_rho, std::size_t count,
                    const Outcome& outcome) const {
    if (kTracked && damping != 0) return false;
    const double *const old_tau = tau + first, *const old_rho = rho + first;
    const Outcome so_far = outcome;
    std::int64_t others = 0;
    for (std::size_t i = 0; i < count; ++i) {
      bool good = (std::abs(new_tau[i]) < kInfinity) & ((new_rho[i] > 0) | ((new_rho[i] == 0) & (new_tau[i] == 0)));
      if constexpr (kTracked) good &= so_far.is_no_larger({old_tau[i], old_rho[i]}, {new_tau[i], new_rho[i]});
      others += good ? 0 : 1;
    }
    return others == 0;
  }
};

// Return type of a message function that may replace its method's message by another one; the loops count replacements.
// A message of negative precision is kept if the sink stores those.
template <class Message>
struct OrFallback : Message {
  OrFallback() = default;
  explicit OrFallback(const Message& valid) : Message(valid) {}
  OrFallback(const Message& other, bool is_other, const Natural& own_message = {})
      : Message(other), replaced(is_other), own(own_message) {}
  bool replaced = false;
  Natural own;
};
using GaussianOrFallback = OrFallback<Gaussian>;

// Numbers requested by a kind (Kind::memory), kept per slot from one visit to the next; zero at the start of a run. All
// message functions of the kind share them.
struct SlotMemory {
  std::span<double> numbers;
  double& operator[](std::size_t i) const { return numbers[i]; }
};

struct Call {
  std::size_t rows = 1, columns = 0;          // one row for a kind with a variadic port
  const PortView* reads = nullptr;            // in the order of the message function's arguments
  const ParameterView* parameters = nullptr;  // in the order of declaration
  Sink sink;
  Sink second_sink;  // for a kernel that sends to two ports of the same shape
  std::ptrdiff_t out_row = 0, out_column = 1;
  std::uint32_t out_terms = 1;
  double* scratch = nullptr;       // kScratchPerTerm doubles per term of each port
  const void* callable = nullptr;  // the message function object, if it has data
  double* memory = nullptr;        // first slot's, if the kind uses memory
  std::size_t memory_size = 0;     // per slot

  std::ptrdiff_t out_offset(std::size_t r, std::size_t c) const {
    return static_cast<std::ptrdiff_t>(r) * out_row + static_cast<std::ptrdiff_t>(c) * out_column;
  }
};

// Computes every message of the call.
using Kernel = void (*)(const Call&, Outcome&);
// The same for a kernel whose first input is a cavity held as moments: see held.h.
struct HeldCavity;
using HeldKernel = void (*)(const Call&, HeldCavity&, Outcome&);

}  // namespace dma
