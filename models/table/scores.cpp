#include "models/table/scores.h"

#include <algorithm>
#include <cmath>

namespace dma {

namespace {

// Log densities, probabilities from below and residuals, rows x outputs.
std::vector<Scores> scores_from(const Eigen::MatrixXd& density, const Eigen::MatrixXd& below,
                                const Eigen::MatrixXd& residuals) {
  std::vector<Scores> all;
  for (Eigen::Index j = 0; j < density.cols(); ++j) {
    // An observation lies in the central interval of mass p when its probability from below is within p/2 of one half.
    const auto coverage = [&](double mass) {
      return ((below.col(j).array() - 0.5).abs() <= 0.5 * mass).cast<double>().mean();
    };
    all.push_back({.rmse = residuals.col(j).stableNorm() / std::sqrt(static_cast<double>(residuals.rows())),
                   .log_likelihood = density.col(j).mean(),
                   .coverage_50 = coverage(0.5),
                   .coverage_90 = coverage(0.9),
                   .coverage_95 = coverage(0.95)});
  }
  return all;
}

}  // namespace

// In units of the largest target, where no square leaves the range of a double.
double fraction_explained(double rmse, const Eigen::VectorXd& targets) {
  const double unit = targets.size() == 0 ? 0.0 : targets.cwiseAbs().maxCoeff();
  if (unit == 0) return 0;
  const auto rows = static_cast<double>(targets.size());
  const double mean = (targets / unit).sum() / rows;
  const double spread = (targets / unit - Eigen::VectorXd::Constant(targets.size(), mean)).norm() / std::sqrt(rows);
  constexpr double kRounding = 1e-15;
  if (!(spread > kRounding)) return 0;
  const double fraction = rmse / unit / spread;
  return 1 - fraction * fraction;
}

std::vector<Scores> scores_of(const Prediction& prediction, const Eigen::MatrixXd& targets) {
  return scores_from(prediction.log_density(targets), prediction.cumulative(targets), targets - prediction.mean);
}

std::vector<Scores> scores_of(const PredictedRows& predicted, const Eigen::MatrixXd& targets) {
  constexpr Eigen::Index kRows = 1 << 14;
  Eigen::MatrixXd density(targets.rows(), targets.cols()), below = density, residuals = density;
  for (Eigen::Index begin = 0; begin < targets.rows(); begin += kRows) {
    const Eigen::Index rows = std::min(kRows, targets.rows() - begin);
    const Prediction some = predicted(begin, rows);
    const Eigen::MatrixXd own = targets.middleRows(begin, rows);
    density.middleRows(begin, rows) = some.log_density(own);
    below.middleRows(begin, rows) = some.cumulative(own);
    residuals.middleRows(begin, rows) = own - some.mean;
  }
  return scores_from(density, below, residuals);
}

double likeliest_fraction(const Eigen::VectorXd& ahead, double doubt) {
  constexpr double kMost = 700, kNextToOne = 1 - 1e-6;  // exp of the former is a number
  const Eigen::ArrayXd odds = ahead.array().min(kMost).exp() - 1;
  const auto slope = [&](double f) { return (odds / (1 + f * odds)).sum(); };
  double low = 0, high = 1;
  for (int step = 0; step < 40; ++step) (slope(0.5 * (low + high)) > 0 ? low : high) = 0.5 * (low + high);
  const double fraction = high > kNextToOne ? 1 : high;
  const double gain = fraction == 1 ? ahead.sum() : (fraction * odds).log1p().sum();
  return gain > doubt ? fraction : 0;
}

}  // namespace dma
