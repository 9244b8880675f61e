// Largest change first.
#pragma once

#include "engine/compile/schedule.h"

namespace dma {

// Each factor is one visit that refreshes and sends everything. The next visit is always that of the factor whose
// arriving messages changed most since its last one; the limit counts visits in units of one visit per factor.
Scheduler residual(Iteration iteration = {});

}  // namespace dma
