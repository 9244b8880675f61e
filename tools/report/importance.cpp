#include "tools/report/importance.h"

#include <cmath>

#include "tools/report/sample.h"

namespace dma::report {

PermutationImportance permutation_importance(const Eigen::MatrixXd& inputs, const Loss& loss, int shuffles, std::uint64_t seed) {
  PermutationImportance found{loss(inputs), {}};
  const Eigen::Index outputs = found.before.size();
  constexpr std::uint64_t kPurpose = 0x8cb92ba72f3d8dd7;  // its own stream, apart from the seed's other uses
  boost::random::mt19937_64 random(seed ^ kPurpose);
  Eigen::MatrixXd changed = inputs;
  for (Eigen::Index column = 0; column < inputs.cols(); ++column) {
    Eigen::MatrixXd rise(shuffles, outputs);
    for (int k = 0; k < shuffles; ++k) {
      changed.col(column) = inputs.col(column)(shuffled(inputs.rows(), random));
      rise.row(k) = (loss(changed) - found.before).transpose();
    }
    changed.col(column) = inputs.col(column);
    found.inputs.emplace_back();
    for (Eigen::Index j = 0; j < outputs; ++j) {
      const double mean = rise.col(j).mean();
      const double squares = (rise.col(j).array() - mean).square().sum();
      found.inputs.back().push_back({mean, shuffles > 1 ? std::sqrt(squares / (shuffles - 1)) : 0});
    }
  }
  return found;
}

}  // namespace dma::report
