#include "models/graphs/graph_model.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <boost/random/mersenne_twister.hpp>
#include <boost/random/normal_distribution.hpp>
#include <boost/random/uniform_01.hpp>
#include <cmath>
#include <fstream>
#include <sstream>

#include "engine/support/error.h"
#include "factors/standard_registry.h"
#include "tests/oracles/plain_matrix.h"
#include "tests/oracles/random_matrices.h"
#include "tests/oracles/scores.h"

namespace {

using namespace dma;
using oracle::random_matrix, oracle::PlainMatrix;

constexpr int kGroups = 50, kRows = 300;

// y = effect[group] + w x + noise of variance 0.25, effect ~ N(1, 2), w ~ N(0, 4).
GraphFile random_intercept() {
  GraphFile file;
  Graph& g = file.graph;
  const auto effect = g.shared("effect", kGroups), w = g.shared("w"), x = g.observed("x"), y = g.observed("y"),
             wx = g.variable("wx"), z = g.variable("z");
  g.factor("gaussian_prior", {effect}, {{"mean", 1.0}, {"variance", 2.0}});
  g.factor("gaussian_prior", {w}, {{"mean", 0.0}, {"variance", 4.0}});
  g.factor("product", {w, x, wx});
  g.factor("add", {wx, given(effect), z}, {}, {.name = "group"});
  g.factor("gaussian_noise", {z, y}, {{"variance", 0.25}});
  return file;
}

}  // namespace

TEST_CASE("graph model: an intercept for each of 50 unbalanced groups is the exact posterior") {
  Matrix inputs(kRows, 2);
  PlainMatrix design(kRows, kGroups + 1);
  const Matrix drawn = random_matrix(kRows, 2, 3), effects = random_matrix(kGroups, 1, 4);
  Vector y(kRows);
  for (int i = 0; i < kRows; ++i) {
    // Group j has about as many rows as its share of j^2: the last ones dozens, the first ones one or none.
    const int group = static_cast<int>(kGroups * std::cbrt((i * 37 % kRows + 0.5) / kRows));
    inputs(i, 0) = drawn(i, 0), inputs(i, 1) = group;
    const auto row = static_cast<std::size_t>(i);
    design(row, static_cast<std::size_t>(group)) = 1, design(row, kGroups) = drawn(i, 0);
    y(i) = 1 + 1.4 * effects(group, 0) - 0.7 * drawn(i, 0) + 0.5 * drawn(i, 1);
  }
  GraphModel model(random_intercept(), standard_registry(), {"y"});
  CHECK(model.inputs() == std::vector<std::string>{"x", "group"});
  model.fit(inputs, y);
  PlainMatrix precision = 0.5 * PlainMatrix::identity(kGroups + 1), mean(kGroups + 1, 1, 1);
  precision(kGroups, kGroups) = 0.25, mean[kGroups] = 0;
  const PlainMatrix covariance = (precision + 4 * (design.transpose() * design)).inverse(),
                    exact = covariance * (4 * (design.transpose() * y) + precision * mean);
  const std::vector<GraphModel::Learned> beliefs = model.beliefs();
  REQUIRE(beliefs.size() == kGroups + 1);
  CHECK(beliefs[7].name == "effect[7]");
  CHECK(beliefs[kGroups].name == "w");
  for (std::size_t i = 0; i <= kGroups; ++i) {
    const Gaussian& belief = beliefs[i].belief;
    CHECK(belief.mean() == doctest::Approx(exact[i]).epsilon(1e-9));
    CHECK(belief.variance() == doctest::Approx(covariance(i, i)).epsilon(1e-9));
  }
  const Prediction p = model.predict(inputs.topRows(4));
  for (Index i = 0; i < 4; ++i) {
    const PlainMatrix row = design.block(static_cast<std::size_t>(i), 0, 1, kGroups + 1);
    CHECK(p.mean(i, 0) == doctest::Approx(dot(row, exact)).epsilon(1e-9));
    CHECK(p.sd(i, 0) * p.sd(i, 0) == doctest::Approx(0.25 + dot(row * covariance, row)).epsilon(1e-9));
  }
  // As a file, word for word and number for number.
  const std::string text = graph_model_text(model);
  const GraphModel again = graph_model_from(text, "model.json", standard_registry());
  CHECK(again.predict(inputs.topRows(4)).mean == p.mean);
  CHECK(again.predict(inputs.topRows(4)).sd == p.sd);
  CHECK(graph_model_text(again) == text);
  std::string damaged = text;
  damaged[damaged.size() / 2] ^= 1;
  CHECK_THROWS_AS((void)graph_model_from(damaged, "model.json", standard_registry()), Error);
  inputs(1, 1) = 50;
  CHECK_THROWS_WITH_AS((void)model.predict(inputs),
                       "column 'group' is 50 in row 2; it chooses an element: a whole number from 0 to 49 is expected",
                       Error);
}

TEST_CASE("graph model: variables with values in the file are no columns; elements are columns of their own") {
  GraphFile file;
  Graph& g = file.graph;
  const auto w = g.shared("w", 2), x = g.observed("x", 2), scale = g.observed("scale"), y = g.observed("y"),
             p = g.variable("p", 2), s = g.variable("s"), z = g.variable("z");
  g.factor("gaussian_prior", {w}, {{"mean", 0.0}, {"variance", 1.0}});
  g.factor("product", {w, x, p});
  g.factor("sum", {p, s});
  g.factor("product", {s, scale, z});
  g.factor("gaussian_noise", {z, y}, {{"variance", 0.01}});
  file.observations.push_back({scale, {2.0}});
  GraphModel model(std::move(file), standard_registry(), {"y"});
  CHECK(model.inputs() == std::vector<std::string>{"x[0]", "x[1]"});
  const Matrix inputs = random_matrix(40, 2, 5);
  model.fit(inputs, oracle::filled(40, [&](Index n) { return 2 * (0.5 * inputs(n, 0) - inputs(n, 1)); }));
  CHECK(model.beliefs()[0].belief.mean() == doctest::Approx(0.5).epsilon(1e-3));
  CHECK(model.likelihood(0) == "gaussian noise, sd 0.1 (given)");
  CHECK_THROWS_WITH_AS(model.fit(inputs.leftCols(1), inputs.col(0)), "the graph has 2 inputs, but 1 columns are given",
                       Error);
  CHECK_THROWS_WITH_AS(
      GraphModel(random_intercept(), standard_registry(), {"z"}),
      "target 'z' is not an observed variable of the graph; mark it observed, and put a likelihood on it", Error);
}

TEST_CASE("graph model: means, deviations and intervals of a formula are those of a long Monte Carlo run") {
  std::ifstream stream(DMA_SOURCE_DIR "/tools/examples/graphs/decay.json");
  std::ostringstream text;
  text << stream.rdbuf();
  boost::random::mt19937_64 random(8);
  boost::random::normal_distribution<double> normal;
  constexpr double kNoise = 0.1;
  Vector t(40), y(40);
  for (int i = 0; i < 40; ++i) t(i) = 0.125 * i, y(i) = 2.5 * std::exp(-0.8 * t(i)) + 0.5 + kNoise * normal(random);
  GraphModel model(parse_graph(text.str()), standard_registry(), {"y"}, {.learn_noise = true});
  model.fit(t, y);
  const double noise = model.learner().noise_variance(0);
  // Metropolis' walk over a, b and c ~ N(1, 4) with the noise that was learned.
  using Three = std::array<double, 3>;
  const auto log_density = [&](const Three& m) {
    double misfit = 0, from_prior = 0;
    for (Index i = 0; i < 40; ++i) {
      const double left = y(i) - (m[0] * std::exp(-m[1] * t(i)) + m[2]);
      misfit += left * left;
    }
    for (const double number : m) from_prior += (number - 1) * (number - 1);
    return -0.5 * misfit / noise - 0.125 * from_prior;
  };
  const auto beliefs = model.beliefs();
  Three at, sum{}, squares{};
  for (std::size_t i = 0; i < 3; ++i) at[i] = beliefs[i].belief.mean();
  boost::random::uniform_01<double> uniform;
  constexpr int kSteps = 400'000;
  std::vector<double> later;
  double here = log_density(at);
  for (int step = 0; step < kSteps; ++step) {
    Three next = at;
    for (std::size_t i = 0; i < 3; ++i) next[i] += 0.6 * beliefs[i].belief.sd() * normal(random);
    const double there = log_density(next);
    if (std::log(uniform(random)) < there - here) at = next, here = there;
    for (std::size_t i = 0; i < 3; ++i) sum[i] += at[i], squares[i] += at[i] * at[i];
    later.push_back(at[0] * std::exp(-6 * at[1]) + at[2] + std::sqrt(noise) * normal(random));
  }
  for (std::size_t i = 0; i < 3; ++i) {
    const Gaussian& belief = beliefs[i].belief;
    const double mean = sum[i] / kSteps, sd = std::sqrt(squares[i] / kSteps - mean * mean);
    CHECK(std::abs(belief.mean() - mean) < 0.2 * sd);  // the posterior is a little skewed
    CHECK(belief.sd() == doctest::Approx(sd).epsilon(0.1));
  }
  std::ranges::sort(later);
  const Prediction p = model.predict(Matrix::Constant(1, 1, 6));
  CHECK(std::abs(p.quantile(0.025)(0, 0) - later[kSteps / 40]) < 0.1 * p.sd(0, 0));
  CHECK(std::abs(p.quantile(0.975)(0, 0) - later[kSteps - kSteps / 40]) < 0.1 * p.sd(0, 0));
}

TEST_CASE("graph model: a class by softmax of two scores is logistic regression; its file says the same") {
  const std::string text = R"({"variables": {"w": {"shared": true, "size": 2}, "x": {"observed": null},
    "c": {"observed": null, "categories": ["red", "blue"]}, "scores": {"size": 2}}, "factors": [
    {"kind": "gaussian_prior", "connects": ["w"], "parameters": {"mean": 0, "variance": 2}},
    {"kind": "product", "connects": ["w", {"variable": "x", "reach": "all_to_one"}, "scores"]},
    {"kind": "softmax", "connects": ["scores", "c"]}]})";
  const Matrix x = random_matrix(60, 1, 3), luck = random_matrix(60, 1, 4);
  ClassLabels labels{{"red", "blue"}, {}};
  for (Index n = 0; n < 60; ++n) labels.of_rows.push_back(x(n, 0) + luck(n, 0) > 0 ? 1 : 0);
  double w = 0, curvature = 0;  // of w[1] = -w[0]: two scores of variance 2
  for (int step = 0; step < 50; ++step) {
    double slope = -w;
    curvature = 1;
    for (Index n = 0; n < 60; ++n) {
      const double p = 1 / (1 + std::exp(-2 * w * x(n, 0)));
      slope += 2 * x(n, 0) * (static_cast<double>(labels.of_rows[static_cast<std::size_t>(n)]) - p);
      curvature += 4 * x(n, 0) * x(n, 0) * p * (1 - p);
    }
    w += slope / curvature;
  }
  GraphModel model(parse_graph(text), standard_registry(), {"c"});
  REQUIRE(model.has_classes());
  model.fit(x, labels);
  CHECK(model.beliefs()[1].belief.mean() == doctest::Approx(w).epsilon(1e-3));
  CHECK(model.beliefs()[0].belief.mean() == doctest::Approx(-w).epsilon(1e-3));
  // Of the sum w[0] + w[1] nothing is learned: half of it has variance 1.
  CHECK(model.beliefs()[1].belief.variance() == doctest::Approx(1 + 1 / curvature).epsilon(0.02));
  const Matrix p = model.probabilities(x);
  CHECK((p.rowwise().sum().array() - 1).abs().maxCoeff() < 1e-12);
  CHECK(class_scores_of(p, labels.of_rows).log_loss < model.training.left_out_classes.at(0).log_loss);
  CHECK(model.likelihood(0) == "softmax: red, blue");
  const std::string saved = graph_model_text(model);
  const GraphModel again = graph_model_from(saved, "model.json", standard_registry());
  CHECK(again.probabilities(x) == p);
  CHECK(graph_model_text(again) == saved);
  CHECK_THROWS_WITH_AS((void)model.predict(x), doctest::Contains("target 'c' is a class, not a number"), Error);
}
