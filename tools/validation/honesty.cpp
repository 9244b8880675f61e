#include "tools/validation/honesty.h"

#include <time.h>

#include <boost/random/mersenne_twister.hpp>
#include <boost/random/normal_distribution.hpp>
#include <cmath>

#include "models/regression.h"
#include "models/scores.h"
#include "tools/validation/honesty_tables.h"
#include "tools/validation/paper_tasks.h"
#include "tools/validation/thread_seconds.h"

namespace dma::validation {

namespace {

constexpr double kAllowance = 1.05;  // of the RMSE of the better of mean and linear regression

Bnn learned(const Eigen::MatrixXd& x, const Eigen::MatrixXd& y, const std::vector<std::size_t>& hidden, const std::string& method,
            std::uint64_t seed) {
  RegressionSettings settings = regression_settings(static_cast<std::size_t>(x.cols()), hidden, static_cast<std::size_t>(y.cols()),
                                                    static_cast<std::size_t>(x.rows()), method);
  settings.network.seed = seed;
  Bnn net(settings.network);
  net.fit(x, y, settings.fit);
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

NoDataResult measure(std::size_t seeds, const std::vector<std::size_t>& hidden, NoDataTable (*table)(std::uint64_t)) {
  NoDataResult result;
  const auto count = static_cast<double>(seeds);
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
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

HonestyResult measure_honesty(const std::string& name, std::size_t seeds, const std::vector<std::size_t>& hidden, const std::string& method) {
  HonestyResult result;
  result.table = name;
  const auto count = static_cast<double>(seeds);
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const HonestyTable t = honesty_table(name, seed);
    const double start = thread_seconds();
    const Bnn net = learned(t.inputs, t.targets, hidden, method, seed);
    const Scores scores = scores_of(net.predict(t.test_inputs), t.test_targets)[0];
    result.seconds += (thread_seconds() - start) / count;
    result.rmse += scores.rmse / count;
    result.coverage += scores.coverage_95 / count;
    result.log_likelihood += scores.log_likelihood / count;
    result.of_mean += rmse(Eigen::MatrixXd::Constant(t.test_targets.rows(), 1, t.targets.mean()), t.test_targets) / count;
    result.of_linear += rmse_of_linear(t) / count;
    result.least_coverage = t.least_coverage, result.most_coverage = t.most_coverage;
  }
  // Data without noise are learned to a thousandth of their spread.
  constexpr double kNoiseFree = 1e-3;
  result.most_rmse = std::max(kAllowance * std::min(result.of_mean, result.of_linear), kNoiseFree * result.of_mean);
  return result;
}

NoDataResult measure_gap(std::size_t seeds, const std::vector<std::size_t>& hidden) { return measure(seeds, hidden, &gap_table); }
NoDataResult measure_beyond(std::size_t seeds, const std::vector<std::size_t>& hidden) { return measure(seeds, hidden, &beyond_table); }

double measure_growth(std::size_t rows, std::uint64_t seed, double& seconds) {
  constexpr Eigen::Index kInputs = 10, kTest = 2000;
  boost::random::mt19937_64 random(seed);
  boost::random::normal_distribution<double> normal;
  const auto table = [&](Eigen::Index count) {
    Eigen::MatrixXd x(count, kInputs), y(count, 1);
    for (Eigen::Index n = 0; n < count; ++n) {
      for (Eigen::Index j = 0; j < kInputs; ++j) x(n, j) = normal(random);
      y(n, 0) = std::sin(x(n, 0) + x(n, 1)) + 0.5 * x(n, 2) * x(n, 3) + std::cos(x(n, 4)) + 0.3 * x(n, 5) + 0.3 * normal(random);
    }
    return std::pair{x, y};
  };
  const auto [x, y] = table(static_cast<Eigen::Index>(rows));
  const auto [test_x, test_y] = table(kTest);
  const double start = thread_seconds();
  const Bnn net = learned(x, y, {50}, {}, seed);
  seconds = thread_seconds() - start;
  return rmse(net.predict(test_x).mean, test_y);
}

ExtrapolationResult measure_extrapolation(std::size_t seeds, bool linear_slopes) {
  ExtrapolationResult result;
  constexpr int kTested = 200;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const PaperTask task = small_task(seed);
    BnnOptions options{.layers = task.layers, .slopes = linear_slopes ? Numbers(1.0) : Numbers(task.slopes), .noise = task.noise,
                       .bias = false, .standardise = false};
    for (std::size_t l = 0; l + 1 < task.layers.size(); ++l) {
      const std::size_t size = task.layers[l] * task.layers[l + 1];
      options.priors.push_back({std::vector<double>(size, 0.0), std::vector<double>(size, 4 / (3 * static_cast<double>(task.layers[l])))});
    }
    options.seed = seed;
    Bnn net(options);
    net.fit(task.inputs, task.targets, {.epochs = 100});
    // Beyond the data on both sides, as far as the paper's figures reach.
    Eigen::MatrixXd x(kTested, task.inputs.cols()), y(kTested, 1);
    boost::random::mt19937_64 random(seed + 1000);
    boost::random::normal_distribution<double> normal;
    for (int i = 0; i < kTested; ++i) {
      const double share = (i + 0.5) / kTested, raw = i % 2 == 0 ? -2.5 - 2.5 * share : 1.5 + 3.5 * share;
      x.row(i) = task.features(raw);
      y(i, 0) = task.truth(raw)(0) + task.noise * normal(random);
    }
    const Scores scores = scores_of(net.predict(x), y)[0];
    result.nll -= scores.log_likelihood / static_cast<double>(seeds);
    result.coverage += scores.coverage_95 / static_cast<double>(seeds);
  }
  return result;
}

}  // namespace dma::validation
