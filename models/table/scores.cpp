#include "models/table/scores.h"

#include <algorithm>
#include <cmath>

#include "engine/learn/gaussian/program/output_likelihood.h"
#include "engine/learn/gaussian/program/row_model.h"
#include "engine/support/fields.h"
#include "engine/support/usable.h"

namespace dma {

namespace {

// Log densities, probabilities from below and residuals, rows x outputs.
std::vector<Scores> scores_from(const Eigen::MatrixXd& density, const Eigen::MatrixXd& below,
                                const Eigen::MatrixXd& residuals, const Eigen::VectorXd& weights) {
  std::vector<Scores> all;
  const double rows = total_weight(residuals.rows(), weights);
  const auto mean = [&](const Eigen::ArrayXd& values) { return weighted_sum(values, weights) / rows; };
  for (Eigen::Index j = 0; j < density.cols(); ++j) {
    // An observation lies in the central interval of mass p when its probability from below is within p/2 of one half.
    const auto coverage = [&](double mass) {
      return mean(((below.col(j).array() - 0.5).abs() <= 0.5 * mass).cast<double>());
    };
    Eigen::VectorXd own = residuals.col(j);
    if (weights.size() > 0) own = own.cwiseProduct(weights.cwiseSqrt());
    all.push_back({.rmse = own.stableNorm() / std::sqrt(rows),
                   .log_likelihood = mean(density.col(j)),
                   .coverage_50 = coverage(0.5),
                   .coverage_90 = coverage(0.9),
                   .coverage_95 = coverage(0.95)});
  }
  return all;
}

}  // namespace

void list_fields(Fields& f, Scores& value) { DMA_LIST(rmse, log_likelihood, coverage_50, coverage_90, coverage_95); }

void check(const Scores& s) {
  expect(s.rmse >= 0 && std::isfinite(s.rmse) && std::isfinite(s.log_likelihood), "a score is not usable");
  for (const double coverage : {s.coverage_50, s.coverage_90, s.coverage_95})
    expect(coverage >= 0 && coverage <= 1 + 1e-9, "a score is not usable");
}

Eigen::MatrixXd mass_below(const Prediction& prediction, const Eigen::MatrixXd& targets) {
  Eigen::MatrixXd below = prediction.cumulative(targets);
  const OutputLikelihoods& likelihoods = prediction.components.at(0).likelihoods;
  const auto is_discrete = [](const auto& one) { return one && one->is_discrete(); };
  if (std::ranges::none_of(likelihoods, is_discrete)) return below;
  const Eigen::MatrixXd without = prediction.cumulative((targets.array() - 1).matrix());
  for (Eigen::Index j = 0; j < below.cols(); ++j)
    if (is_discrete(likelihoods[static_cast<std::size_t>(j)])) below.col(j) = 0.5 * (below.col(j) + without.col(j));
  return below;
}

// In units of the largest target, where no square leaves the range of a double.
double fraction_explained(double rmse, const Eigen::VectorXd& targets, const Eigen::VectorXd& weights) {
  const double unit = targets.size() == 0 ? 0.0 : targets.cwiseAbs().maxCoeff();
  if (unit == 0) return 0;
  const double rows = total_weight(targets.size(), weights), mean = weighted_sum(targets / unit, weights) / rows;
  const double spread = std::sqrt(weighted_sum((targets.array() / unit - mean).square(), weights) / rows);
  constexpr double kRounding = 1e-15;
  if (!(spread > kRounding)) return 0;
  const double fraction = rmse / unit / spread;
  return 1 - fraction * fraction;
}

std::vector<Scores> scores_of(const Prediction& prediction, const Eigen::MatrixXd& targets,
                              const Eigen::VectorXd& weights) {
  return scores_from(prediction.log_density(targets), mass_below(prediction, targets), targets - prediction.mean,
                     weights);
}

std::vector<Scores> scores_of(const PredictedRows& predicted, const Eigen::MatrixXd& targets,
                              const Eigen::VectorXd& weights) {
  constexpr Eigen::Index kRows = 1 << 14;
  Eigen::MatrixXd density(targets.rows(), targets.cols()), below = density, residuals = density;
  for (Eigen::Index begin = 0; begin < targets.rows(); begin += kRows) {
    const Eigen::Index rows = std::min(kRows, targets.rows() - begin);
    const Prediction some = predicted(begin, rows);
    const Eigen::MatrixXd own = targets.middleRows(begin, rows);
    density.middleRows(begin, rows) = some.log_density(own);
    below.middleRows(begin, rows) = mass_below(some, own);
    residuals.middleRows(begin, rows) = own - some.mean;
  }
  return scores_from(density, below, residuals, weights);
}

double likeliest_fraction(const Eigen::VectorXd& ahead, double doubt, const Eigen::VectorXd& weights) {
  constexpr double kMost = 700, kNextToOne = 1 - 1e-6;  // exp of the former is a number
  const Eigen::ArrayXd odds = ahead.array().min(kMost).exp() - 1;
  const auto slope = [&](double f) { return weighted_sum(odds / (1 + f * odds), weights); };
  double low = 0, high = 1;
  for (int step = 0; step < 40; ++step) (slope(0.5 * (low + high)) > 0 ? low : high) = 0.5 * (low + high);
  const double fraction = high > kNextToOne ? 1 : high;
  const double gain = weighted_sum(fraction == 1 ? ahead.array() : (fraction * odds).log1p().eval(), weights);
  return gain > doubt ? fraction : 0;
}

}  // namespace dma
