// Compile pass: whether the visits of a schedule can be made, and what the answer of a single sweep is worth.
#pragma once

#include "engine/compile/flow.h"

namespace dma {

// Takes out of the visits the sends that no variable wants. Throws an Error if a visit names a factor, port or slot
// that the graph does not have. Unless the schedule says why its answer is approximate, each message must be sent by
// some visit, after every other port that it reads was refreshed: else a run could stop with nothing changing any more
// although nothing was computed. Each visit refreshes what its messages read if any visit may come first, in residual
// order, and if a factor is visited both as a whole and slot by slot.
//
// A single sweep that gives no reason is then either exact or is given one (Schedule::approximate).
void check_schedule(const Resolved& graph, const Flow& flow, Schedule& schedule);

}  // namespace dma
