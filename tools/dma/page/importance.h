// The inputs that a fitted model uses.
#pragma once

#include <Eigen/Dense>
#include <cstdint>
#include <functional>
#include <vector>

namespace dma::report {

// The loss of rows with these inputs, one number per output; the function knows their targets.
// Many threads may call it at once.
using Loss = std::function<Eigen::VectorXd(const Eigen::MatrixXd& inputs)>;

struct Importance {
  double mean = 0, sd = 0;  // mean and sd of the rise of the loss, over the shuffles
};

struct PermutationImportance {
  Eigen::VectorXd before;                       // loss of the rows as they are, per output
  std::vector<std::vector<Importance>> inputs;  // [group][output]
};

// Permutation importance (Breiman 2001): how much the loss rises when the values of a group of columns are handed
// together to other rows, mean and standard deviation over `shuffles` orders. A column that the model does not look at
// has 0; of two columns that say the same each may have little, since the other remains. Calls the loss 1 + groups *
// shuffles times.
PermutationImportance permutation_importance(const Eigen::MatrixXd& inputs,
                                             const std::vector<std::vector<Eigen::Index>>& groups, const Loss& loss,
                                             int shuffles, std::uint64_t seed);

}  // namespace dma::report
