// Columns of a table that cannot teach anything.
#pragma once

#include <Eigen/Dense>
#include <memory>
#include <string>
#include <vector>

#include "engine/learn/worker_team.h"

namespace dma {

struct RedundantColumns {
  std::vector<Eigen::Index> kept;  // the other ones, in their order
  std::string text;                // one line about those left out; empty if there are none
};

// Features that are constant, or copies of earlier ones up to shift and scale: they say nothing, or nothing new. Of a
// team of processes with one worker each, every one gives the rows it has and gets the same answer.
RedundantColumns redundant_columns(const Eigen::Ref<const Eigen::MatrixXd>& features,
                                   const std::vector<std::string>& names,
                                   const std::shared_ptr<WorkerTeam>& team = local_team(1));

}  // namespace dma
