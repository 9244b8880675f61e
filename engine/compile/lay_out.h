// Compile pass: factors into groups, their messages and parameters into arrays.
#pragma once

#include "engine/compile/flow.h"
#include "engine/compile/plan.h"

namespace dma {

struct GroupSlot {
  std::uint32_t group, first_slot;  // the first of a factor
};

// Scalar factors of one kernel class form one group, in the order of their first visit (so that consecutive visits are
// consecutive slots); every other factor is a group of its own. Returns where every factor is.
std::vector<GroupSlot> lay_out(const Flow& flow, bool constants_in_cavity, PlanData& plan);

// Where each of the user's factors has gone.
void index_memberships(std::size_t factors, PlanData& plan);

// Element -> slots and back, for the operations that need it.
void index_incidence(PlanData& plan);

// For residual order: the first send of each visit, the visits that a change at a variable concerns.
void index_visits(PlanData& plan);

}  // namespace dma
