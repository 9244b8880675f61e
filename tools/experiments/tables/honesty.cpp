#include "tools/experiments/tables/honesty.h"

#include <cmath>

#include "models/network/regression.h"
#include "models/table/scores.h"
#include "models/table/standardiser.h"
#include "tools/experiments/paper/thread_seconds.h"

namespace dma::validation {

namespace {

using Eigen::MatrixXd;

Bnn learned(const MatrixXd& x, const MatrixXd& y, const HonestySettings& own, double* said = nullptr) {
  const auto inputs = static_cast<std::size_t>(x.cols()), outputs = static_cast<std::size_t>(y.cols()),
             rows = static_cast<std::size_t>(x.rows());
  RegressionSettings settings = own.hidden ? regression_settings(inputs, *own.hidden, outputs, rows, own.method)
                                           : regression_settings(inputs, outputs, rows, own.method);
  settings.network.seed = own.seed;
  Bnn net(settings.network);
  const FitReport report = net.fit(x, y, settings.fit);
  if (said && !report.left_out.empty()) *said = report.left_out[0].scores.rmse;
  return net;
}

double rmse(const MatrixXd& a, const MatrixXd& b) { return std::sqrt((a - b).array().square().mean()); }

double rmse_of_linear(const HonestyTable& t) {
  const Standardiser standardiser = Standardiser::of(t.inputs);
  const auto with_ones = [&](const MatrixXd& x) {
    MatrixXd design(x.rows(), x.cols() + 1);
    design << standardiser.apply(x), Eigen::VectorXd::Ones(x.rows());
    return design;
  };
  const MatrixXd w = with_ones(t.inputs).completeOrthogonalDecomposition().solve(t.targets);
  return rmse(with_ones(t.test_inputs) * w, t.test_targets);
}

}  // namespace

std::vector<ScoreColumn> honesty_columns() {
  return {{"said", 4},
          {"RMSE", 4},
          {"RMSE of mean", 4},
          {"RMSE of least squares", 4},
          {"95 % coverage", 3},
          {"log-likelihood", 3},
          {"worst row", 1, ScoreColumn::Shows::least},
          {"CPU s"}};
}

SplitScores judge(const HonestyTable& t, const HonestySettings& settings) {
  const double start = thread_seconds();
  double said = 0;
  const Bnn net = learned(t.inputs, t.targets, settings, &said);
  const Prediction predicted = net.predict(t.test_inputs);
  const Scores fresh = scores_of(predicted, t.test_targets)[0];
  const double worst_row = predicted.log_density(t.test_targets).minCoeff(), seconds = thread_seconds() - start;
  const double of_mean = rmse(MatrixXd::Constant(t.test_targets.rows(), 1, t.targets.mean()), t.test_targets);
  return {said, fresh.rmse, of_mean, rmse_of_linear(t), fresh.coverage_95, fresh.log_likelihood, worst_row, seconds};
}

SplitScores judge(const NoDataTable& t, const HonestySettings& settings) {
  const Bnn net = learned(t.inputs, t.targets, settings);
  const Prediction away = net.predict(t.gap_inputs), at_data = net.predict(t.inputs);
  const auto inside = (t.gap_targets - away.mean).array().abs() <= 1.96 * away.epistemic_sd.array();
  return {inside.cast<double>().mean(), away.epistemic_sd.mean() / at_data.epistemic_sd.mean()};
}

}  // namespace dma::validation
