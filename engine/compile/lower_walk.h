// Compile pass, part of lower: the visits of a chain into one walk along its slots.
#pragma once

#include "engine/compile/arrivals.h"
#include "engine/compile/lay_out.h"

namespace dma {

// Appends what must be gathered before it to the plan's operations; its messages then count as sent.
Walk lower_walk(const Chained& chain, const std::vector<GroupSlot>& group_slots, ArrivalPlanner& arrivals, PlanData& plan);

}  // namespace dma
