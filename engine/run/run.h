// run/: State, the loops that walk a plan, Report. May include compile/ and what lies below it.
//
// Runs a plan on a state. Allocates nothing and looks nothing up; never throws from a kernel.
#pragma once

#include "engine/run/report.h"
#include "engine/run/state.h"

namespace dma {

struct RunOptions {
  // Begin from the messages the state has instead of uniform ones (iterative schedules only).
  bool warm = false;
  // Afterwards look for contradicting point masses and the smallest signal-to-noise ratio: a pass over all messages.
  bool diagnose = true;
};

// Throws Error if an observed variable has no value, Contradiction if two different point masses met on a variable.
Report run(const Plan& plan, State& state, const RunOptions& options = {});

}  // namespace dma
