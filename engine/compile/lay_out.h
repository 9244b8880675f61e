// Compile pass: factors into groups, their messages and parameters into arrays.
#pragma once

#include "engine/compile/draft.h"
#include "engine/compile/plan_data.h"

namespace dma {

// Scalar factors of one kernel class form one group, in the order of their first visit (so that consecutive visits are
// consecutive slots); every other factor is a group of its own.
void lay_out(Draft& draft, bool constants_in_cavity);

// Notes the group of each of the user's factors.
void index_memberships(Draft& draft, std::size_t factors);

// Element -> slots and back, for the operations that need it.
void index_incidence(PlanData& plan);

// For residual order: the first send of each visit, the visits that a change at a variable concerns.
void index_visits(Draft& draft);

}  // namespace dma
