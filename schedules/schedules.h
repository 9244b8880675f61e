// Schedulers: sweeps in the order of the data flow, all at once, repeated, or the largest change first.
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

// Every message at once, from the messages of the sweep before.
Scheduler flooding(Iteration iteration = {});  // for compile() and solve()

// Forward and backward sweeps, repeated: each message from the newest others.
// In topological order and its reverse; a graph whose data flow has a cycle is swept in the order of its factors.
Scheduler sequential(Iteration iteration = {});

// Largest change first.
// Each factor is one visit that refreshes and sends everything. The next visit is always that of the factor whose
// arriving messages changed most since its last one; the limit counts visits in units of one visit per factor.
Scheduler residual(Iteration iteration = {});

}  // namespace dma
