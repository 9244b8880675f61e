// Compile pass: turns the visits of a schedule into kernel calls and the gathering of messages they need.
#pragma once

#include "engine/compile/arrivals.h"
#include "engine/compile/draft.h"
#include "engine/compile/plan_data.h"

namespace dma {

void lower(Draft& draft);

// Lowers the visits of a chain that was written as a plate. Appends the gathering before it to the plan's operations;
// its messages then count as sent.
ChainSend lower_chain(const Chained& chain, ArrivalPlanner& arrivals, Draft& draft);

// Turns chains that were built node by node into ones that read their neighbours at constant places, if these have
// such places: nothing is then looked up. For plans of a single sweep with an incidence.
void straighten(PlanData& plan);

// Finds chains that are independent of the one before: a forward and a backward chain run side by side.
void pair_chains(PlanData& plan);

}  // namespace dma
