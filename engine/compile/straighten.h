// Compile pass, after lower: sequences of scalar factors that find their neighbours at constant places become walks.
#pragma once

#include "engine/compile/plan.h"

namespace dma {

// A chain that was built node by node is then walked as one that was written as a plate: nothing is looked up, and a
// forward and a backward walk go on side by side. For plans of a single sweep that have their incidence.
void straighten(PlanData& plan);

}  // namespace dma
