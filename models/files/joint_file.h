// The members of what joint learning knows, as they stand in a file: means, factor of the precision (or the rows it
// comes from), noise, tails, the baseline and its weight; and of the rows that are neighbours of others.
#pragma once

#include "engine/support/fields.h"
#include "models/network/bnn.h"

namespace dma {

void list_fields(Fields& f, SharedPosterior& posterior);
void list_fields(Fields& f, JointRegression::Memory& memory);
void list_fields(Fields& f, Neighbours::Memory& memory);

// An Error unless the memory fits a network with these options: every size, and numbers that can be used.
void check_joint_memory(const BnnOptions& options, const JointRegression::Memory& memory);
void check_neighbours(const BnnOptions& options, const Neighbours::Memory& memory);

}  // namespace dma
