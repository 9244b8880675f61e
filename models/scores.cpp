#include "models/scores.h"

#include <cmath>

namespace dma {

std::vector<Scores> scores_of(const Prediction& prediction, const Eigen::MatrixXd& targets) {
  const Eigen::MatrixXd density = prediction.log_density(targets), below = prediction.cumulative(targets);
  std::vector<Scores> all;
  for (Eigen::Index j = 0; j < targets.cols(); ++j) {
    // An observation lies in the central interval of mass p when its probability from below is within p/2 of one half.
    const auto coverage = [&](double mass) {
      return ((below.col(j).array() - 0.5).abs() <= 0.5 * mass).cast<double>().mean();
    };
    const Eigen::VectorXd residuals = targets.col(j) - prediction.mean.col(j);
    all.push_back({.rmse = residuals.stableNorm() / std::sqrt(static_cast<double>(residuals.size())),
                   .log_likelihood = density.col(j).mean(),
                   .coverage_50 = coverage(0.5),
                   .coverage_90 = coverage(0.9),
                   .coverage_95 = coverage(0.95)});
  }
  return all;
}

}  // namespace dma
