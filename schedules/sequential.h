// Forward and backward sweeps, repeated: each message from the newest others.
#pragma once

#include "engine/compile/schedule.h"

namespace dma {

// In topological order and its reverse; a graph whose data flow has a cycle is swept in the order of its factors.
Scheduler sequential(Iteration iteration = {});

}  // namespace dma
