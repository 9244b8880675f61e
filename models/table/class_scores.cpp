#include "models/table/class_scores.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "engine/learn/rows/row_model.h"
#include "engine/support/whole_number.h"

namespace dma {

ClassScores class_scores_of(const Eigen::MatrixXd& probabilities, std::span<const Eigen::Index> classes,
                            const Eigen::VectorXd& weights) {
  constexpr std::size_t kBins = 10;
  std::array<double, kBins> surplus{};  // of confidence over hits
  const std::vector<Eigen::Index> found = most_probable(probabilities);
  const double rows = total_weight(probabilities.rows(), weights);
  ClassScores scores;
  for (Eigen::Index n = 0; n < probabilities.rows(); ++n) {
    const auto row = static_cast<std::size_t>(n);
    const double confidence = probabilities(n, found[row]), hit = found[row] == classes[row] ? 1 : 0;
    const double weight = weight_of(weights, n);
    scores.accuracy += weight * hit;
    scores.log_loss -= weight * std::log(std::max(probabilities(n, classes[row]), 1e-300));
    surplus[whole_number<std::size_t>(confidence * kBins, 0, kBins - 1)] += weight * (confidence - hit);
  }
  for (const double bin : surplus) scores.calibration_error += std::abs(bin);
  return {scores.accuracy / rows, scores.log_loss / rows, scores.calibration_error / rows};
}

std::vector<Eigen::Index> most_probable(const Eigen::MatrixXd& probabilities) {
  std::vector<Eigen::Index> all(static_cast<std::size_t>(probabilities.rows()));
  for (std::size_t n = 0; n < all.size(); ++n) probabilities.row(static_cast<Eigen::Index>(n)).maxCoeff(&all[n]);
  return all;
}

}  // namespace dma
