// What joint learning knows, as JSON and back: means, factor of the precision (or the rows it comes from), noise
// function, tails, the baseline and its weight.
#pragma once

#include "models/files/readable_json.h"
#include "models/network/bnn.h"

namespace dma {

Json to_json(const JointRegression::Memory& memory);
JointRegression::Memory joint_memory_from(const Json& json);

// The rows that are neighbours of others, and what was learned of each output.
Json to_json(const Neighbours::Memory& memory);
Neighbours::Memory neighbours_from(const Json& json);

// An Error unless the memory fits a network with these options: every size, and numbers that can be used.
void check_joint_memory(const BnnOptions& options, const JointRegression::Memory& memory);
void check_neighbours(const BnnOptions& options, const Neighbours::Memory& memory);

}  // namespace dma
