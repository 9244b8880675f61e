// Compile pass: the visits of a schedule into kernel calls and the gathering of messages they need.
#pragma once

#include "engine/compile/arrivals.h"
#include "engine/compile/draft.h"

namespace dma {

void lower(Draft& draft);

// Part of it: the visits of a chain into one walk along its slots. Appends what must be gathered before it to the
// plan's operations; its messages then count as sent.
Walk lower_walk(const Chained& chain, ArrivalPlanner& arrivals, Draft& draft);

// After it: sequences of scalar factors that find their neighbours at constant places become walks. A chain that was
// built node by node is then walked as one that was written as a plate: nothing is looked up, and a forward and a
// backward walk go on side by side. For plans of a single sweep that have their incidence.
void straighten(PlanData& plan);

}  // namespace dma
