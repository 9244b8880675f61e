// Levenberg-Marquardt on a graph of poses, as one would write it by hand: angles wrapped, rotations as matrices, steps
// in the frame of each body, damping a tenth after a step that leads down and ten times that after another.
#pragma once

#include <Eigen/Dense>
#include <vector>

#include "models/graphs/expressions.h"
#include "models/graphs/graph_file.h"

namespace dma::baselines {

struct SolvedPoses {
  double objective = 0;  // half the sum of what the edges cost
  std::vector<Eigen::MatrixXd> turns;
  std::vector<Eigen::VectorXd> places;
  Eigen::MatrixXd covariance;  // covariance of the steps of all poses but the first, if it was asked for
  int solves = 0;
};

// From where the graph has its vertices, the first of which stays. `cauchy` > 0: the width of that loss, for edges
// between vertices that do not follow each other.
SolvedPoses solve_poses(const PoseGraph& graph, double cauchy = 0, bool with_covariance = false);

}  // namespace dma::baselines
