// A cavity held as moments: what a shared variable knows, as means and variances, while one example after the other is
// learned from. A kernel that reads it needs no division for it, and one that sends to it changes it in place.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "engine/messages/arrays.h"

namespace dma {

struct Outcome;
struct Call;

// Doubles that all kernels of the factors at a held cavity may keep for one another, for each slot and each term.
inline constexpr std::size_t kHeldPerSlot = 3, kHeldPerTerm = 7;

// Moments as a message again, given what it was before something was learned: where nothing was, it is that to the last
// digit, and a precision does not shrink by rounding.
inline Natural learned(const Natural& before, double mean, double variance) {
  const double variance_before = 1 / before.rho;
  if (variance == variance_before && mean == before.tau * variance_before) return before;
  const double rho = std::max(before.rho, 1 / variance);
  return {rho == kInfinity ? mean : mean * rho, rho};
}

struct HeldCavity {
  double *mean = nullptr, *variance = nullptr;
  // The same in natural parameters when it was taken up; free to be used for messages that are done the usual way.
  MessageArrays natural;
  double* per_slot = nullptr;
  double* per_term = nullptr;
  // Where a kernel that sends to a second port shared by all slots leaves the product of what it sends there, for
  // whoever combines these messages. None: it is not wanted.
  MessageArrays product = {};
  // What a kernel reads on its second port is the same for the next one at this cavity, in the same sweep.
  bool second_stays = false;
  // What the kernel before this one has found there, while it stays; 0: there was none before this one.
  std::uint8_t found = 0;
};

// Like a Kernel, with the first port that is read held. What is sent there is multiplied into the moments at once. What
// is sent to a second port that all slots share may all be in the message of the first slot, those of the others
// uniform: its product is what counts.
using HeldKernel = void (*)(const Call&, HeldCavity&, Outcome&);

}  // namespace dma
