// Topological sweeps for graphs whose data flow has no cycle.
#pragma once

#include "engine/compile/schedule.h"

namespace dma {

// Each message once. Without loops (cut at observed variables) every message comes after all it depends on: exact
// sum-product. With loops: the factors in topological order, each sending to its outputs, then in reverse, each sending
// to its inputs; over a layered network this is one example of the paper's Algorithm 1. A message to an input uses what
// arrived on the other inputs in the forward half.
Scheduler forward_backward();

// Only the forward half: predictions.
Scheduler forward();

}  // namespace dma
