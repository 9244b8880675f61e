// The slots of a chain, one after the other: each may read what the ones before it wrote, at constant places.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/messages/gaussian.h"

namespace dma {

struct Outcome;
struct Call;

struct WalkSource {
  const double* tau = nullptr;
  const double* rho = nullptr;
  std::ptrdiff_t at = 0;  // slot s reads message at + s; of several components, those from at + s components on

  Natural message(std::ptrdiff_t slot) const { return {tau[at + slot], rho[at + slot]}; }
};

// What arrives on a port: the product of some messages, none of them its own.
struct WalkRead {
  const WalkSource* sources = nullptr;
  std::size_t count = 0;
  bool follows = false;  // the last source is the message, of one component, that the slot before has sent
  std::uint32_t terms = 1;

  Natural product(std::ptrdiff_t slot) const { return product_with({}, slot, count); }
  // The same by one who remembers what the slot before has sent.
  [[gnu::always_inline]] Natural product_after(const Natural& sent, std::ptrdiff_t slot) const {
    return follows ? product_with(sent, slot, count - 1) : product_with({}, slot, count);
  }
  Natural sent_before(std::ptrdiff_t slot) const { return follows ? sources[count - 1].message(slot) : Natural(); }

 private:
  // Nothing is looked at before all are added: a chain waits for every message.
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

// Slots first, first + step, ... (count of them).
struct WalkRun {
  std::int64_t first = 0, step = 1;
  std::uint64_t count = 0;
  const WalkRead* reads = nullptr;  // in the order of the message function's arguments
};

using WalkKernel = void (*)(const Call&, const WalkRun&, Outcome&);
// Two walks of as many slots that have nothing to do with each other, side by side: each message waits for the one
// before it, and the processor computes one while the other waits.
using WalkPairKernel = void (*)(const Call&, const WalkRun&, Outcome&, const Call&, const WalkRun&, Outcome&);

}  // namespace dma
