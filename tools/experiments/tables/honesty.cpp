#include "tools/experiments/tables/honesty.h"

#include <time.h>

#include <boost/random/mersenne_twister.hpp>
#include <boost/random/normal_distribution.hpp>
#include <cmath>

#include "models/network/regression.h"
#include "models/table/scores.h"
#include "tools/experiments/paper/methods.h"
#include "tools/experiments/paper/scores.h"
#include "tools/experiments/paper/thread_seconds.h"
#include "tools/experiments/tables/honesty_tables.h"

namespace dma::validation {

namespace {

constexpr double kAllowance = 1.05;  // of the RMSE of the better of mean and linear regression

Bnn learned(const Eigen::MatrixXd& x, const Eigen::MatrixXd& y, const Hidden& hidden, const std::string& method,
            std::uint64_t seed, double* said = nullptr) {
  const auto inputs = static_cast<std::size_t>(x.cols()), outputs = static_cast<std::size_t>(y.cols()),
             rows = static_cast<std::size_t>(x.rows());
  RegressionSettings settings = hidden ? regression_settings(inputs, *hidden, outputs, rows, method)
                                       : regression_settings(inputs, outputs, rows, method);
  settings.network.seed = seed;
  Bnn net(settings.network);
  const FitReport report = net.fit(x, y, settings.fit);
  if (said && !report.left_out.empty()) *said = report.left_out[0].scores.rmse;
  return net;
}

double rmse(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) { return std::sqrt((a - b).array().square().mean()); }

double rmse_of_linear(const HonestyTable& t) {
  const Standardiser standardiser = Standardiser::of(t.inputs);
  const auto with_ones = [&](const Eigen::MatrixXd& x) {
    Eigen::MatrixXd design(x.rows(), x.cols() + 1);
    design << standardiser.apply(x), Eigen::VectorXd::Ones(x.rows());
    return design;
  };
  const Eigen::MatrixXd w = with_ones(t.inputs).completeOrthogonalDecomposition().solve(t.targets);
  return rmse(with_ones(t.test_inputs) * w, t.test_targets);
}

NoDataResult measure_without_data(Seeds seeds, const Hidden& hidden, NoDataTable (*table)(std::uint64_t)) {
  NoDataResult result;
  const auto count = static_cast<double>(seeds.count);
  for (std::uint64_t seed = seeds.first; seed < seeds.first + seeds.count; ++seed) {
    const NoDataTable t = table(seed);
    const Bnn net = learned(t.inputs, t.targets, hidden, {}, seed);
    const Prediction away = net.predict(t.gap_inputs), at_data = net.predict(t.inputs);
    constexpr double kDeviations = 1.96;
    const auto inside = (t.gap_targets - away.mean).array().abs() <= kDeviations * away.epistemic_sd.array();
    result.coverage += inside.cast<double>().mean() / count;
    result.sd_ratio += away.epistemic_sd.mean() / at_data.epistemic_sd.mean() / count;
  }
  return result;
}

}  // namespace

HonestyResult measure_honesty(const std::string& name, Seeds seeds, const Hidden& hidden, const std::string& method) {
  HonestyResult result;
  result.table = name;
  const auto count = static_cast<double>(seeds.count);
  for (std::uint64_t seed = seeds.first; seed < seeds.first + seeds.count; ++seed) {
    const HonestyTable t = honesty_table(name, seed);
    const double start = thread_seconds();
    double said = 0;
    const Bnn net = learned(t.inputs, t.targets, hidden, method, seed, &said);
    result.said += said / count;
    const Scores scores = scores_of(net.predict(t.test_inputs), t.test_targets)[0];
    result.seconds += (thread_seconds() - start) / count;
    result.rmse += scores.rmse / count;
    result.coverage += scores.coverage_95 / count;
    result.log_likelihood += scores.log_likelihood / count;
    result.of_mean +=
        rmse(Eigen::MatrixXd::Constant(t.test_targets.rows(), 1, t.targets.mean()), t.test_targets) / count;
    result.of_linear += rmse_of_linear(t) / count;
    result.least_coverage = t.least_coverage, result.most_coverage = t.most_coverage;
  }
  // Data without noise are learned to a thousandth of their spread.
  constexpr double kNoiseFree = 1e-3;
  result.most_rmse = std::max(kAllowance * std::min(result.of_mean, result.of_linear), kNoiseFree * result.of_mean);
  return result;
}

NoDataResult measure_gap(Seeds seeds, const Hidden& hidden) { return measure_without_data(seeds, hidden, &gap_table); }
NoDataResult measure_beyond(Seeds seeds, const Hidden& hidden) {
  return measure_without_data(seeds, hidden, &beyond_table);
}

double measure_divergence(std::size_t rows, std::uint64_t seed, double& seconds) {
  constexpr Eigen::Index kInputs = 10, kTest = 2000;
  boost::random::mt19937_64 random(seed);
  boost::random::normal_distribution<double> normal;
  const auto table = [&](Eigen::Index count) {
    Eigen::MatrixXd x(count, kInputs), y(count, 1);
    for (Eigen::Index n = 0; n < count; ++n) {
      for (Eigen::Index j = 0; j < kInputs; ++j) x(n, j) = normal(random);
      y(n, 0) = std::sin(x(n, 0) + x(n, 1)) + 0.5 * x(n, 2) * x(n, 3) + std::cos(x(n, 4)) + 0.3 * x(n, 5) +
                0.3 * normal(random);
    }
    return std::pair{x, y};
  };
  const auto [x, y] = table(static_cast<Eigen::Index>(rows));
  const auto [test_x, test_y] = table(kTest);
  const double start = thread_seconds();
  const Bnn net = learned(x, y, {}, {}, seed);
  seconds = thread_seconds() - start;
  return rmse(net.predict(test_x).mean, test_y);
}

ExtrapolationResult measure_extrapolation(const std::string& method, Seeds seeds) {
  ExtrapolationResult result;
  const auto count = static_cast<double>(seeds.count);
  for (std::uint64_t seed = seeds.first; seed < seeds.first + seeds.count; ++seed) {
    const reproduce::Task task = reproduce::make_task("small", seed);
    const reproduce::Fitted fitted = reproduce::method(method).fit(task, seed, {});
    const auto score = reproduce::score(task, fitted.predict, false);
    result.nll += json_number(score.at("extrapolation_nll")) / count;
    result.coverage += json_number(score.at("outside").at("coverage_95")) / count;
  }
  return result;
}

}  // namespace dma::validation
