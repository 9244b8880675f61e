// Compile pass: the visits of a schedule into kernel calls and the gathering of messages they need.
#pragma once

#include "engine/compile/arrivals.h"
#include "engine/compile/draft.h"
#include "engine/compile/plan_data.h"

namespace dma {

void lower(Draft& draft);

// Part of it: the visits of a chain that was written as a plate. Appends what must be gathered before it to the plan's
// operations; its messages then count as sent.
ChainSend lower_chain(const Chained& chain, ArrivalPlanner& arrivals, Draft& draft);

// After it: a chain that was built node by node, whose neighbours the table names, reads them at constant places where
// they stand there. It is then like one that was written as a plate: nothing is looked up, and a forward and a backward
// chain go on side by side. For plans of a single sweep that have their incidence.
void straighten(PlanData& plan);

}  // namespace dma
