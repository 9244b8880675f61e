// Compile pass: checks the visits of a schedule, and whether a single sweep is exact.
#pragma once

#include "engine/compile/schedule.h"

namespace dma {

// Removes sends that no variable wants. Throws an Error if a visit names a factor, port or slot that the graph does not
// have. Unless the schedule says why its answer is approximate, each message must be sent by some visit, after every
// other port that it reads was refreshed: otherwise a run could converge without having computed anything. In residual
// order, where any visit may come first, and for factors visited both as a whole and slot by slot, each visit must
// refresh the ports that its messages read.
//
// If a single sweep without a reason is not exact, sets the reason (Schedule::approximate).
void check_schedule(const Resolved& graph, const Flow& flow, Schedule& schedule);

}  // namespace dma
