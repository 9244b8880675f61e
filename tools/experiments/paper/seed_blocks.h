// How much twenty seeds leave to chance: joint learning and a linear model on block after block of twenty.
#pragma once

#include "tools/experiments/paper/experiment.h"

namespace dma::reproduce {

// Of every block of 20 seeds from 1 on.
struct SeedBlocks {
  std::vector<double> joint_nll, joint_coverage, linear_nll, linear_coverage;  // means over the block
};

Unit seed_blocks_unit();
SeedBlocks seed_blocks(const Results& results);
Table seed_blocks_table(const SeedBlocks& blocks);

}  // namespace dma::reproduce
