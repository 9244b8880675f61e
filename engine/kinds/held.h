// Cavities held as moments: what makes learning by messages 1.6 to 5.5 times faster (tools/experiments/results).
//
// What. While a mini-batch is learned, one example after the other, a weight is read by two kernels for every example,
// and changed once. In natural parameters each reading costs a division, the message to it is stored, and a pass over
// all weights multiplies it in. Held as a mean and a variance, reading costs nothing and learning changes the weight in
// place: no message to a weight is stored, none is absorbed.
//
// Who. engine/run/held_cavities.h finds in a plan which shared variables can be held: those of a plan of one sweep
// whose cavity nobody reads but kernels of one group, each of which has a HeldKernel, and the one that sends to it
// comes last. factors/arithmetic/inner_product/held.cpp has the only such kernels: the layers of a network.
//
// When. Learner and predictions call Executor::hold() for each shared variable; those that cannot be held, because of
// the plan or because a message is not proper or far from 1, are learned the usual way. Every sweep then runs the held
// kernels in place of the others. release() turns moments into natural parameters again; a Holding that ends without
// it, by an exception, gives them up.
//
// How exact. The kernels of natural parameters remain: a held kernel gives every row that has a point mass, a uniform
// message or a term that dominates the others to them, and they are its oracle in tests. Beliefs agree to 1e-10.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "engine/kinds/call.h"
#include "engine/messages/arrays.h"

namespace dma {

// Doubles of working memory that the kernels at a held cavity have, for each slot and each term.
inline constexpr std::size_t kHeldPerSlot = 3, kHeldPerTerm = 7;

// Moments as a message again, given what it was before something was learned: where nothing was, it is that to the last
// digit, and a precision does not shrink by rounding.
inline Natural learned(const Natural& before, double mean, double variance) {
  const double variance_before = 1 / before.rho;
  if (variance == variance_before && mean == before.tau * variance_before) return before;
  const double rho = std::max(before.rho, 1 / variance);
  return {rho == kInfinity ? mean : mean * rho, rho};
}

// What a HeldKernel sends to the port of the cavity is multiplied into the moments at once. What it sends to a second
// port that all slots share may all be in the message of the first slot, those of the others uniform: its product is
// what counts.
struct HeldCavity {
  double *mean = nullptr, *variance = nullptr;
  // The same in natural parameters when it was taken up; free to be used for messages that are done the usual way.
  MessageArrays natural;
  // Where a kernel that sends to a second port shared by all slots leaves the product of what it sends there, for
  // whoever combines these messages. None: it is not wanted.
  MessageArrays product = {};
  // Working memory, and whether the next kernel of the sweep reads the same on its second port. If so, a kernel may
  // leave what it computed there, and say what that is by a number of its own. The engine makes that 0, nothing, before
  // the first kernel of every sweep.
  double* per_slot = nullptr;
  double* per_term = nullptr;
  bool is_read_again = false;
  std::uint8_t left = 0;
};

}  // namespace dma
