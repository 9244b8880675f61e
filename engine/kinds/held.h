// Cavities held as moments: what makes learning by messages 1.6 to 5.5 times faster (tools/experiments/results).
//
// What. While a mini-batch is learned example by example, two kernels read each weight per example, and one changes it.
// In natural parameters each read costs a division, the message to the weight is stored, and a pass over all weights
// multiplies it in. If weights are held as means and variances, reads are free and learning updates them in place: no
// message to a weight is stored or absorbed.
//
// Who. engine/run/held_cavities.h finds in a plan which shared variables can be held: those of a plan of one sweep
// whose cavity is read only by kernels of one group, each with a HeldKernel, and whose sender comes last.
// factors/arithmetic/inner_product/held.cpp has the only such kernels: the layers of a network.
//
// When. Learner and predictions call Executor::hold() for each shared variable; those that cannot be held, because of
// the plan or because a message is not proper or far from 1, are learned the usual way. Every sweep then runs the held
// kernels instead of the others. release() converts moments back to natural parameters; a Holding that ends without it,
// by an exception, discards them.
//
// How exact. The kernels of natural parameters remain: a held kernel passes rows with a point mass, a uniform message
// or a dominant term to them, and they are its oracle in tests. Beliefs agree to 1e-10.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "engine/kinds/call.h"
#include "engine/messages/gaussian.h"

namespace dma {

// Doubles of working memory for kernels at a held cavity, per slot and per term.
inline constexpr std::size_t kHeldPerSlot = 3, kHeldPerTerm = 7;

// Converts moments back to a message, given the message before learning: if nothing was learned the result is identical
// to it, and a precision never shrinks by rounding.
inline Natural learned(const Natural& before, double mean, double variance) {
  const double variance_before = 1 / before.rho;
  if (variance == variance_before && mean == before.tau * variance_before) return before;
  const double rho = std::max(before.rho, 1 / variance);
  return {rho == kInfinity ? mean : mean * rho, rho};
}

// Messages of a HeldKernel to the cavity's port are multiplied into the moments at once. Its messages to a second port
// shared by all slots may be combined in the first slot's message, with those of the others uniform: only their product
// matters.
struct HeldCavity {
  double *mean = nullptr, *variance = nullptr;
  // The cavity's natural parameters when it was taken up; free as a buffer for rows computed the usual way.
  MessageArrays natural;
  // Destination for the product of the messages to a second port that all slots share. Empty: not needed.
  MessageArrays product = {};
  // Working memory; and whether the next kernel of the sweep reads the same second port. If so, a kernel may leave
  // results there, marked by a number of its own. The engine resets the mark to 0 before the first kernel of every
  // sweep.
  double* per_slot = nullptr;
  double* per_term = nullptr;
  bool is_read_again = false;
  std::uint8_t left = 0;
};

}  // namespace dma
