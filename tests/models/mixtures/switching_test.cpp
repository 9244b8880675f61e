// Switching state spaces against the enumeration of all paths, a Kalman smoother, and gates of the engine.
#include "models/mixtures/switching.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "engine/gates/gates.h"
#include "engine/joint/joint.h"
#include "engine/run/run.h"
#include "engine/support/text.h"
#include "factors/standard_registry.h"
#include "tests/oracles/regime_paths.h"
#include "tests/oracles/relative.h"

namespace {

using namespace dma;
using oracle::PlainMatrix;
using Values = std::vector<std::optional<double>>;

Eigen::MatrixXd square(std::initializer_list<double> numbers) {
  const auto size = static_cast<Eigen::Index>(std::lround(std::sqrt(static_cast<double>(numbers.size()))));
  return PlainMatrix::column(numbers).matrix().reshaped<Eigen::RowMajor>(size, size);
}

// A target that flies straight, turns left or turns right; its position is read, in regime 2 with much noise.
SwitchingModel some_model(std::size_t regimes) {
  SwitchingModel model;
  const double c = std::cos(0.4), s = std::sin(0.4);
  model.regimes = {{square({1, 0.5, 0, 1}), square({0.1, 0.02, 0.02, 0.05}), square({1, 0.3, -0.2, 1}),
                    square({0.3, 0.1, 0.1, 0.5})},
                   {square({c, -s, s, c}), square({0.3, 0, 0, 0.2}), square({1, 0, 0, 1}), square({0.4, 0, 0, 0.4})},
                   {square({c, s, -s, c}), square({0.1, 0, 0, 0.1}), square({1, 0, 0.5, 1}), square({6, 1, 1, 6})}};
  model.regimes.resize(regimes);
  const auto count = static_cast<Eigen::Index>(regimes);
  model.transition = Eigen::MatrixXd::Constant(count, count, regimes > 1 ? 0.2 / static_cast<double>(count - 1) : 1);
  if (regimes > 1) model.transition.diagonal().setConstant(0.8);
  model.start = Eigen::VectorXd::LinSpaced(count, 1, static_cast<double>(count));
  model.start /= model.start.sum();
  model.mean = PlainMatrix::column({1, -0.5}).vector();
  model.covariance = square({2, 0.5, 0.5, 1});
  return model;
}

// Some of the values are missing, and at step 4 both.
Values some_values(std::size_t steps, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  Values values;
  for (std::size_t t = 0; t < steps; ++t) {
    const double angle = 0.4 * static_cast<double>(t < steps / 2 ? t : steps - t);
    values.emplace_back(2 * std::cos(angle) + 0.6 * normal(random));
    values.emplace_back(2 * std::sin(angle) + 0.6 * normal(random));
  }
  if (steps > 4) values[3].reset(), values[6].reset(), values[7].reset();
  return values;
}

oracle::RegimePaths enumerated(const SwitchingModel& model, const Values& values) {
  std::vector<oracle::PlainRegime> regimes;
  for (const LinearRegime& regime : model.regimes) regimes.push_back({regime.a, regime.q, regime.h, regime.r});
  return oracle::enumerate_paths(regimes, model.start, model.transition, model.mean, model.covariance, values);
}

// Largest distance in a probability; of a mean, in standard deviations; of the logarithm of a variance.
struct Distance {
  double probability = 0, mean = 0, log_variance = 0, covariance = 0;

  void add(const SwitchingStep& found, const oracle::PathMoments& exact) {
    for (std::size_t k = 0; k < exact.probability.size(); ++k)
      probability =
          std::max(probability, std::abs(found.probability[static_cast<Eigen::Index>(k)] - exact.probability[k]));
    for (std::size_t i = 0; i < exact.mean.rows(); ++i) {
      const auto at = static_cast<Eigen::Index>(i);
      mean = std::max(mean, std::abs(found.mean[at] - exact.mean[i]) / std::sqrt(exact.covariance(i, i)));
      log_variance = std::max(log_variance, std::abs(std::log(found.covariance(at, at) / exact.covariance(i, i))));
    }
    covariance = std::max(covariance, largest_difference(found.covariance, exact.covariance));
  }
  bool is_below(double limit) const {
    return probability < limit && mean < limit && log_variance < limit && covariance < limit;
  }
};

Distance distance(const std::vector<SwitchingStep>& found, const std::vector<oracle::PathMoments>& exact,
                  std::size_t steps) {
  Distance all;
  for (std::size_t t = 0; t < steps; ++t) all.add(found[t], exact[t]);
  return all;
}

TEST_CASE("switching: all paths are as enumerated by Kalman smoothers, missing values included") {
  for (const std::size_t regimes : {2, 3}) {
    const SwitchingModel model = some_model(regimes);
    const Values values = some_values(6);
    const oracle::RegimePaths exact = enumerated(model, values);
    for (const std::size_t order : {kAllPaths, std::size_t{6}}) {
      const Switched found = switching(model, values, order);
      CHECK(found.is_exact);
      CHECK(found.text().starts_with("exact; log evidence -"));
      CHECK(found.log_evidence == oracle::relative(exact.log_evidence, 1e-12));
      CHECK(distance(found.filtered, exact.filtered, 6).is_below(1e-11));
      CHECK(distance(found.smoothed, exact.smoothed, 6).is_below(1e-11));
    }
  }
}

TEST_CASE("switching: a single regime is a Kalman smoother at any order") {
  const SwitchingModel model = some_model(1);
  const Values values = some_values(60);
  const oracle::RegimePaths exact = enumerated(model, values);
  const Switched found = switching(model, values);
  CHECK(found.is_exact);
  CHECK(found.log_evidence == oracle::relative(exact.log_evidence, 1e-12));
  CHECK(distance(found.filtered, exact.filtered, 60).is_below(1e-10));
  CHECK(distance(found.smoothed, exact.smoothed, 60).is_below(1e-10));
}

TEST_CASE("switching: the first steps of the filter, as many as its order, are exact, and not all") {
  const SwitchingModel model = some_model(3);
  const Values values = some_values(6);
  const oracle::RegimePaths exact = enumerated(model, values);
  for (const std::size_t order : {2, 3}) {
    const Switched found = switching(model, values, order);
    CHECK_FALSE(found.is_exact);
    CHECK(found.text().starts_with("approximate: paths that agree in"));
    CHECK(distance(found.filtered, exact.filtered, order).is_below(1e-11));
    CHECK_FALSE(distance(found.filtered, exact.filtered, 6).is_below(1e-4));
  }
}

TEST_CASE("switching: merged paths are near the exact answer, nearer with a higher order") {
  double before = 1;
  struct Expected {
    std::size_t order;
    double filtered, smoothed, mean, log_evidence;
  };
  for (const Expected& expected : {Expected{2, 0.09, 0.11, 0.35, 0.2}, Expected{4, 0.008, 0.012, 0.03, 0.016}}) {
    Distance filtered, smoothed;
    double evidence = 0, mean_distance = 0;
    for (unsigned seed = 1; seed <= 20; ++seed) {
      const SwitchingModel model = some_model(2);
      Values values = some_values(8, seed);
      for (std::size_t i = 1; i < values.size(); i += 2) values[i].reset();
      const oracle::RegimePaths exact = enumerated(model, values);
      const Switched found = switching(model, values, expected.order);
      for (std::size_t t = 0; t < 8; ++t) {
        filtered.add(found.filtered[t], exact.filtered[t]);
        smoothed.add(found.smoothed[t], exact.smoothed[t]);
      }
      mean_distance += distance(found.smoothed, exact.smoothed, 8).probability / 20;
      evidence = std::max(evidence, std::abs(found.log_evidence - exact.log_evidence));
    }
    CAPTURE(expected.order);
    CHECK(filtered.probability < expected.filtered);
    CHECK(smoothed.probability < expected.smoothed);
    CHECK(smoothed.mean < expected.mean);
    CHECK(evidence < expected.log_evidence);
    CHECK(mean_distance < 0.5 * before);
    before = mean_distance;
  }
}

// A level that drifts or jumps: regimes choose the noise of each step.
TEST_CASE("switching: the exact answer is that of gates over a graph of the same model") {
  const std::vector<double> seen{0.3, 0.1, 2.9, 3.2, 3.0, 1.1};
  const double q[] = {0.04, 4.0}, stay[] = {0.9, 0.1, 0.3, 0.7};
  Graph g;
  const auto x = g.variable("x", seen.size()), y = g.observed("y", seen.size());
  std::vector<VariableId> regimes;
  for (std::uint32_t t = 0; t < seen.size(); ++t) {
    regimes.push_back(g.variable("regime" + std::to_string(t), 1, "categorical(2)"));
    if (t == 0)
      g.factor("categorical_prior", {regimes[0]}, {{"probability", {0.6, 0.4}}});
    else
      g.factor("table", {regimes[t - 1], regimes[t]}, {{"probability", std::vector<double>(stay, stay + 4)}});
    for (std::uint32_t k = 0; k < 2; ++k)
      if (t == 0)
        g.factor("gaussian_prior", {gather(x, {0})}, {{"mean", 0.5}, {"variance", 2.0}}, {.when = {{regimes[t], k}}});
      else
        g.factor("gaussian_noise", {gather(x, {t - 1}), gather(x, {t})}, {{"variance", q[k]}},
                 {.when = {{regimes[t], k}}});
  }
  g.factor("gaussian_noise", {x, y}, {{"variance", 0.1}});
  const Plan plan = compile(g, gates(joint()), standard_registry());
  State state(plan);
  state.observe(y, seen);
  CHECK(run(plan, state).stop == Report::Stop::exact);

  const Eigen::MatrixXd one = Eigen::MatrixXd::Ones(1, 1);
  const SwitchingModel model{.regimes = {{one, q[0] * one, one, 0.1 * one}, {one, q[1] * one, one, 0.1 * one}},
                             .start = PlainMatrix::column({0.6, 0.4}).vector(),
                             .transition = square({0.9, 0.1, 0.3, 0.7}),
                             .mean = 0.5 * Eigen::VectorXd::Ones(1),
                             .covariance = 2 * one};
  const Switched found = switching(model, Values(seen.begin(), seen.end()), kAllPaths);
  CHECK(found.log_evidence == oracle::relative(log_evidence(plan, state), 1e-10));
  for (std::size_t t = 0; t < seen.size(); ++t) {
    CHECK(found.smoothed[t].probability[1] == oracle::relative(state.belief(regimes[t]).mean(0, 1), 1e-10));
    CHECK(found.smoothed[t].mean[0] == oracle::relative(state.belief(x).mean(t), 1e-10));
    CHECK(found.smoothed[t].covariance(0, 0) == oracle::relative(state.belief(x).variance(t), 1e-9));
  }
}

TEST_CASE("switching: a regime that cannot be, certain states and long gaps leave finite, positive answers") {
  SwitchingModel model = some_model(3);
  model.start = PlainMatrix::column({1, 0, 0}).vector();
  model.transition.row(0) << 0.5, 0.5, 0;
  model.transition.row(1) << 0.5, 0.5, 0;
  model.covariance.setZero();
  model.regimes[0].q.setZero();
  Values values = some_values(300);
  for (std::size_t t = 100; t < 400; ++t) values[t].reset();
  const Switched found = switching(model, values, 3);
  for (const SwitchingStep& step : found.smoothed) {
    CHECK(step.probability[2] == 0);
    CHECK(step.probability.sum() == oracle::relative(1, 1e-9));
    CHECK(step.mean.allFinite());
    CHECK(step.covariance.trace() >= 0);
  }
  CHECK(found.smoothed[0].covariance.trace() < 1e-12);
  SwitchingFilter filter(model, 3);
  for (std::size_t t = 0; t < 300; ++t)
    CHECK(filter.add(std::span(values).subspan(2 * t, 2)).mean == found.filtered[t].mean);
  CHECK(filter.log_evidence() == found.log_evidence);
}

TEST_CASE("switching: errors name what is wrong and what is possible") {
  const Values values = some_values(40);
  CHECK_THROWS_WITH_AS(
      (void)switching(some_model(2), values, kAllPaths),
      "switching: order 40 of 2 regimes keeps 1.1e+12 Gaussians at a step; at most 65536 are possible: "
      "take order 16 or less, which is approximate",
      Error);
  CHECK_THROWS_WITH_AS((void)switching(some_model(2), values, 1), "switching: order 1 is given; at least 2 is expected",
                       Error);
  SwitchingModel model = some_model(2);
  model.regimes[1].h = Eigen::MatrixXd::Ones(1, 2);
  CHECK_THROWS_WITH_AS((void)switching(model, values), "switching: h of regime 2 is 1 x 2; 2 x 2 is expected", Error);
  model = some_model(2);
  model.regimes[0].r(0, 0) = 0;
  CHECK_THROWS_WITH_AS((void)switching(model, values),
                       "switching: r of regime 1 has the eigenvalue -0.0193; a covariance with positive ones is "
                       "expected: add to its diagonal",
                       Error);
  model = some_model(2);
  model.transition(0, 0) = 0.9;
  CHECK_THROWS_WITH_AS((void)switching(model, values),
                       "switching: row 1 of the transition is [0.9, 0.2]; probabilities with sum 1 are expected",
                       Error);
  CHECK_THROWS_WITH_AS((void)switching(some_model(2), Values(3)),
                       "switching: 3 values are given; 2 for each step are expected, one per row of h", Error);
}

}  // namespace
