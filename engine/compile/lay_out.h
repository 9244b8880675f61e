// Compile pass: puts factors into groups, and their messages and parameters into arrays.
#pragma once

#include "engine/compile/draft.h"
#include "engine/compile/plan_data.h"

namespace dma {

// Scalar factors of one kernel class form one group, in the order of their first visit (so that consecutive visits are
// consecutive slots); every other factor is a group of its own.
void lay_out(Draft& draft, bool constants_in_cavity);

// Maps the user's factors to groups.
void index_memberships(Draft& draft, std::size_t factors);

// Maps elements to slots and back.
void index_incidence(PlanData& plan);

// For residual order: finds the first send of each visit, and the visits that read each variable.
void index_visits(Draft& draft);

}  // namespace dma
