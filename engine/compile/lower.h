// Compile pass: the visits of a schedule into kernel calls and the gathering of messages they need.
#pragma once

#include "engine/compile/lay_out.h"

namespace dma {

void lower(const Flow& flow, const std::vector<GroupSlot>& group_slots, PlanData& plan);

}  // namespace dma
