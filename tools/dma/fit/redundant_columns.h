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

// Finds features that are constant, or copies of earlier ones up to shift and scale. Every process of a team gives its
// own rows and gets the same answer.
RedundantColumns redundant_columns(const Eigen::Ref<const Eigen::MatrixXd>& features,
                                   const std::vector<std::string>& names,
                                   const std::shared_ptr<WorkerTeam>& team = local_team(1));

}  // namespace dma
