// Scores against brute force and closed forms.
#include "tools/experiments/paper/scores.h"

#include <doctest/doctest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

#include "tests/oracles/distributions.h"
#include "tests/oracles/relative.h"
#include "tools/experiments/baselines/random_normal.h"

namespace dma::reproduce {

namespace {

// One or two Gaussians for each of some rows, and what was true.
struct Case {
  Prediction prediction;
  Eigen::MatrixXd truth;
};

Case make_case(int components) {
  baselines::RandomNormal normal(9);
  constexpr Eigen::Index kRows = 40;
  std::vector<Eigen::MatrixXd> means, variances, noises;
  for (int k = 0; k < components; ++k) {
    means.push_back(normal.vector(kRows));
    variances.push_back(normal.vector(kRows).cwiseAbs2());
    noises.push_back(Eigen::MatrixXd::Constant(kRows, 1, 0.09));
  }
  return {Prediction::mix(means, variances, noises), 1.5 * normal.vector(kRows)};
}

}  // namespace

TEST_CASE("scores: coverage counts the truths between two quantiles") {
  for (const int components : {1, 2}) {
    const Case c = make_case(components);
    const Eigen::MatrixXd cumulative = c.prediction.cumulative(c.truth);
    for (const double level : {0.1, 0.5, 0.95}) {
      const Eigen::MatrixXd low = c.prediction.quantile((1 - level) / 2), high = c.prediction.quantile((1 + level) / 2);
      const auto inside = (c.truth.array() >= low.array() && c.truth.array() <= high.array()).count();
      CHECK(coverage(cumulative, level) == doctest::Approx(static_cast<double>(inside) / 40));
    }
  }
}

TEST_CASE("scores: the coverage deviation is the mean over all levels") {
  const Case c = make_case(2);
  const Eigen::MatrixXd cumulative = c.prediction.cumulative(c.truth);
  double sum = 0;
  constexpr int kLevels = 20000;
  for (int i = 0; i < kLevels; ++i) {
    const double level = (i + 0.5) / kLevels;
    sum += (coverage(cumulative, level) - level) / kLevels;
  }
  CHECK(coverage_deviation(cumulative) == oracle::relative(sum, 1e-3));
}

TEST_CASE("scores: the expected score of noisy targets equals its closed form, and sampling for a mixture") {
  const Case one = make_case(1);
  const Eigen::ArrayXXd v = one.prediction.sd.array().square(), off = (one.truth - one.prediction.mean).array();
  const double exact = (0.5 * (2 * std::numbers::pi * v).log() + (off.square() + 0.04) / (2 * v)).mean();
  CHECK(noisy_nll(one.prediction, one.truth, 0.2) == oracle::relative(exact, 1e-9));

  const Case two = make_case(2);
  baselines::RandomNormal normal(1);
  double sum = 0;
  constexpr int kDraws = 400;
  for (int d = 0; d < kDraws; ++d)
    sum -= two.prediction.log_density(two.truth + 0.2 * normal.vector(40)).mean() / kDraws;
  CHECK(noisy_nll(two.prediction, two.truth, 0.2) == oracle::relative(sum, 0.02));
}

TEST_CASE("scores: a kept mixture is the mixture, at the points outside") {
  const Task task = make_task("small", 1);
  const auto predict = [&](const Eigen::MatrixXd& features) {
    const Eigen::MatrixXd mean = features.rowwise().sum(), wide = mean.cwiseAbs2(),
                          noise = 0.04 * Eigen::MatrixXd::Ones(mean.rows(), 1);
    return Prediction::mix({mean, -mean, 0.1 * mean}, {wide, 0.3 * wide, 0 * wide}, {noise, noise, noise});
  };
  const std::vector<double> x = task.outside(kExtrapolationPoints);
  const Eigen::MatrixXd truth = task.truth(x);
  const Eigen::MatrixXd kept = outside_prediction(score(task, predict, false)).log_density(truth);
  CHECK((kept - predict(task.features(x)).log_density(truth)).norm() < 1e-12);
}

TEST_CASE("scores: the distance to an exact predictive is the Kullback-Leibler divergence of two Gaussians") {
  // Posterior of the function N(0, 0.5^2), noise 0.2; the other says N(0.3, 0.7^2).
  const double noise = 0.2, variance = 0.25 + noise * noise, other = 0.49;
  constexpr int kQuantiles = 400;
  Json exact = {{"function", Json::array({Json::array()})},
                {"entropy", {0.5 * std::log(2 * std::numbers::pi * std::numbers::e * variance)}}};
  for (int k = 0; k < kQuantiles; ++k)
    exact["function"][0].push_back(0.5 * oracle::quantile(oracle::normal_below, (k + 0.5) / kQuantiles));
  const Json method = {{"outside", {{"mean", {0.3}}, {"sd", {std::sqrt(other)}}}}};
  const double closed = 0.5 * (std::log(other / variance) + (variance + 0.09) / other - 1);
  CHECK(predictive_kl(exact, method, noise) == oracle::relative(closed, 0.01));
}

TEST_CASE("scores: points lie where the paper scores") {
  const Task task = make_task("small", 1);
  const std::vector<double> outside = task.outside(60);
  REQUIRE(outside.size() == 60);
  for (const double x : outside) CHECK(((x > -4 && x < -2.5) || (x > 1.5 && x < 3)));
  for (const double x : task.inside(500)) CHECK((x > -2.5 && x < 1.5));
  const Task wide = make_task("mismatch", 1);
  CHECK(wide.data.layers == std::vector<std::size_t>{8, 6, 5, 1});
  CHECK(wide.data.raw_inputs.minCoeff() < -4.5);
  for (const double x : wide.outside(10)) CHECK((std::abs(x) > 5 && std::abs(x) < 6.5));
}

}  // namespace dma::reproduce
