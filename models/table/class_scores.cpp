#include "models/table/scores.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "engine/learn/gaussian/program/row_model.h"
#include "engine/support/fields.h"
#include "engine/support/usable.h"
#include "engine/support/whole_number.h"

namespace dma {

void list_fields(Fields& f, ClassScores& value) { DMA_LIST(accuracy, log_loss, calibration_error); }

void check(const ClassScores& s) {
  const auto is_fraction = [](double x) { return x >= 0 && x <= 1; };
  expect(is_fraction(s.accuracy) && s.log_loss >= 0 && std::isfinite(s.log_loss) && is_fraction(s.calibration_error),
         "a score is not usable");
}

ClassScores class_scores_of(const Eigen::MatrixXd& probabilities, std::span<const Eigen::Index> classes,
                            const Eigen::VectorXd& weights) {
  constexpr std::size_t kBins = 10;
  std::array<double, kBins> surplus{};  // sum of confidence minus hits
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
