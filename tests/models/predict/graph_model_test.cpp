#include "models/predict/table_model.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <boost/random/mersenne_twister.hpp>
#include <boost/random/normal_distribution.hpp>
#include <boost/random/poisson_distribution.hpp>
#include <boost/random/uniform_01.hpp>
#include <cmath>

#include "engine/support/text.h"
#include "factors/standard_registry.h"
#include "models/learn/table_learner.h"
#include "models/network/bnn.h"
#include "tests/oracles/files.h"
#include "tests/oracles/random_matrices.h"
#include "tests/oracles/relative.h"
#include "tests/oracles/scores.h"

namespace {

using namespace dma;
using oracle::random_matrix;

constexpr int kGroups = 50;

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
  CHECK(model.beliefs()[0].belief.mean() == oracle::relative(0.5, 1e-3));
  CHECK(model.likelihood(0) == "gaussian noise, sd 0.1 (given)");
  CHECK_THROWS_WITH_AS(model.fit(inputs.leftCols(1), inputs.col(0)), "the graph has 2 inputs, but 1 columns are given",
                       Error);
  CHECK_THROWS_WITH_AS(
      GraphModel(random_intercept(), standard_registry(), {"z"}),
      "target 'z' is not an observed variable of the graph; mark it observed, and put a likelihood on it", Error);
}

TEST_CASE("graph model: a variable with a value in the file is no column where sizes are chosen, either") {
  const auto file = [](const std::string& observed) {
    return parse_graph(R"({"variables": {"x": {"observed": null}, "scale": {"observed": )" + observed + R"(},
      "y": {"observed": null}, "w": {"shared": true, "size": "n"}, "wx": {"size": "n"}, "s": {}, "z": {}}, "factors": [
      {"kind": "gaussian_prior", "connects": ["w"], "parameters": {"mean": 0, "variance": 1}},
      {"kind": "product", "connects": ["w", {"variable": "x", "reach": "all_to_one"}, "wx"]},
      {"kind": "sum", "connects": ["wx", "s"]}, {"kind": "product", "connects": ["s", "scale", "z"]},
      {"kind": "gaussian_noise", "connects": ["z", "y"], "parameters": {"variance": 0.01}}],
      "choices": {"sizes": {"n": [2, 3]}}})");
  };
  const Matrix x = random_matrix(40, 1, 5), y = 2 * x;
  GraphModel constant(file("2"), standard_registry(), {"y"}), column(file("null"), standard_registry(), {"y"});
  CHECK(constant.inputs() == std::vector<std::string>{"x"});
  CHECK(column.inputs() == std::vector<std::string>{"x", "scale"});
  Matrix both(40, 2);
  both << x, Matrix::Constant(40, 1, 2);
  constant.fit(x, y), column.fit(both, y);
  CHECK(constant.beliefs().size() == 2);  // the first of the sizes, where nothing chooses
  CHECK(constant.beliefs()[0].belief.mean() + constant.beliefs()[1].belief.mean() == oracle::relative(1, 1e-3));
  CHECK(constant.predict(x).mean == column.predict(both).mean);
  CHECK(constant.predict(x).sd == column.predict(both).sd);
  // Learned as a table a size is chosen, and the constant stays.
  GraphModel chosen(file("2"), standard_registry(), {"y"}, GraphModelOptions{{.learn_noise = true}, true});
  chosen.fit(random_matrix(120, 1, 6), 2 * random_matrix(120, 1, 6));
  CHECK(chosen.inputs() == std::vector<std::string>{"x"});
  CHECK(oracle::farthest(chosen.predict(x).mean, y) < 0.05);
}

TEST_CASE("graph model: means, deviations and intervals of a formula are those of a long Monte Carlo run") {
  boost::random::mt19937_64 random(8);
  boost::random::normal_distribution<double> normal;
  constexpr double kNoise = 0.1;
  Vector t(40), y(40);
  for (int i = 0; i < 40; ++i) t(i) = 0.125 * i, y(i) = 2.5 * std::exp(-0.8 * t(i)) + 0.5 + kNoise * normal(random);
  GraphModel model(parse_graph(oracle::text_of_file("../tools/examples/graphs/decay.json")), standard_registry(), {"y"},
                   {.learn_noise = true});
  model.fit(t, y);
  const double noise = model.method().noise()[0] * model.method().noise()[0];
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
    CHECK(belief.sd() == oracle::relative(sd, 0.1));
  }
  std::ranges::sort(later);
  const Prediction p = model.predict(Matrix::Constant(1, 1, 6));
  CHECK(std::abs(p.quantile(0.025)(0, 0) - later[kSteps / 40]) < 0.1 * p.sd(0, 0));
  CHECK(std::abs(p.quantile(0.975)(0, 0) - later[kSteps - kSteps / 40]) < 0.1 * p.sd(0, 0));
}

TEST_CASE("graph model: a class by softmax of two scores is learned as what it is") {
  const Matrix x = random_matrix(60, 1, 3), luck = random_matrix(60, 1, 4);
  ClassLabels labels{{"red", "blue"}, {}};
  for (Index n = 0; n < 60; ++n) labels.of_rows.push_back(x(n, 0) + luck(n, 0) > 0 ? 1 : 0);
  GraphModel model(parse_graph(oracle::graph_file("scores.json")), standard_registry(), {"c"});
  REQUIRE(model.has_classes());
  const TableReport report = model.fit(x, labels);
  CHECK(model.beliefs()[1].belief.mean() == oracle::relative(-model.beliefs()[0].belief.mean(), 1e-6));
  const Matrix p = model.probabilities(x);
  CHECK((p.rowwise().sum().array() - 1).abs().maxCoeff() < 1e-12);
  REQUIRE(report.left_out_classes);
  CHECK(class_scores_of(p, labels.of_rows).log_loss < report.left_out_classes->log_loss);
  CHECK(model.likelihood(0) == "softmax: red, blue");
  CHECK_THROWS_WITH_AS((void)model.predict(x), doctest::Contains("target 'c' is a class, not a number"), Error);
}

TEST_CASE("graph model: counts by a rate are learned and predicted as what they are") {
  const std::string text = R"({"variables": {"a": {"shared": true}, "b": {"shared": true}, "x": {"observed": null},
    "n": {"observed": null}, "bx": {}, "rate": {}}, "factors": [
    {"kind": "gaussian_prior", "connects": ["a"], "parameters": {"mean": 0, "variance": 4}},
    {"kind": "gaussian_prior", "connects": ["b"], "parameters": {"mean": 0, "variance": 4}},
    {"kind": "product", "connects": ["b", "x", "bx"]}, {"kind": "add", "connects": ["bx", "a", "rate"]},
    {"kind": "poisson", "connects": ["rate", "n"]}]})";
  boost::random::mt19937_64 random(5);
  const Matrix x = random_matrix(100, 1, 6);
  const auto count = [&](Index n) {
    return double(boost::random::poisson_distribution<int>(std::exp(1 + 0.5 * x(n)))(random));
  };
  const Matrix n = oracle::filled(100, count);
  const GraphFile file = parse_graph(text);
  GraphModel model(file, standard_registry(), {"n"});
  const TableReport report = model.fit(x, n);
  // The same graph by a learner of its own.
  GaussianLearner learner(file.graph, standard_registry(), {file.graph.find_variable("n")});
  const std::vector<double> inputs(x.data(), x.data() + 100), counts(n.data(), n.data() + 100);
  learner.fit({{file.graph.find_variable("x"), inputs}, {file.graph.find_variable("n"), counts}});
  const Prediction p = model.predict(x), expected = learner.predict({{file.graph.find_variable("x"), inputs}});
  CHECK(p.mean == expected.mean);
  CHECK(p.sd == expected.sd);
  CHECK(p.quantile(0.9) == expected.quantile(0.9));
  CHECK(p.log_density(n) == expected.log_density(n));
  CHECK(p.cumulative(n) == expected.cumulative(n));
  const Matrix high = p.quantile(0.975);
  CHECK((high.array() == high.array().round()).all());  // log rate
  CHECK((n.array() <= high.array()).cast<double>().mean() > 0.95);
  CHECK(std::isnan(report.noise.at(0)));
  CHECK(model.likelihood(0) == "poisson");
  CHECK(report.left_out.at(0).scores.log_likelihood ==
        oracle::relative(learner.left_out().log_density(n).mean(), 1e-9));
  CHECK_THROWS_WITH_AS(model.fit(x, -n), doctest::Contains("n"), Error);
}

TEST_CASE("graph model: rows of weight w are w rows, of weight 0 none, and more of them can be added") {
  const Matrix inputs =
      oracle::filled(30, 2, [](Index n, Index j) { return j == 0 ? std::cos(n) : double(n % kGroups); });
  const Matrix y = oracle::filled(30, [](Index n) { return std::sin(3.0 * static_cast<double>(n)); });
  Vector weights = Vector::Ones(30);
  weights(4) = 3, weights(7) = 0, weights(20) = 2;
  std::vector<Index> counted;
  for (Index n = 0; n < 30; ++n)
    for (int k = 0; k < std::lround(weights(n)); ++k) counted.push_back(n);
  const auto model = [] { return GraphModel(random_intercept(), standard_registry(), {"y"}); };
  GraphModel weighted = model(), repeated = model(), updated = model(), first = model();
  weighted.fit(inputs, y, weights);
  repeated.fit(inputs(counted, Eigen::all), y(counted, Eigen::all));
  const Prediction p = weighted.predict(inputs), expected = repeated.predict(inputs);
  CHECK(oracle::farthest(p.mean, expected.mean) < 1e-9);
  CHECK(oracle::farthest(p.sd, expected.sd) < 1e-9);
  updated.fit(inputs.topRows(18), y.topRows(18), weights.head(18));
  CHECK(updated.update(inputs.bottomRows(12), y.bottomRows(12), weights.tail(12)));
  CHECK(oracle::farthest(updated.predict(inputs).mean, expected.mean) < 1e-9);
  CHECK(oracle::farthest(updated.predict(inputs).sd, expected.sd) < 1e-9);
  CHECK(updated.line() == "the last 12 on top of 19 before");
  Matrix beyond = inputs;
  beyond(1, 1) = kGroups;
  CHECK_THROWS_WITH_AS((void)weighted.predict(beyond),
                       "column 'group' is 50 in row 2; it chooses an element: a whole number from 0 to 49 is expected",
                       Error);
  CHECK_THROWS_WITH_AS(first.update(inputs, y), doctest::Contains("fit"), Error);
  CHECK_THROWS_WITH_AS(weighted.fit(inputs.topRows(4), y.topRows(4)), doctest::Contains("other rows"), Error);
  CHECK_THROWS_WITH_AS(first.fit(inputs, y.topRows(4)), "30 rows of inputs, but 4 of targets", Error);
  CHECK_THROWS_WITH_AS(first.fit(inputs, Matrix(inputs)), "the graph has 1 targets, but 2 columns are given", Error);
  CHECK_THROWS_WITH_AS(first.predict(inputs), doctest::Contains("nothing has been learned"), Error);
}

TEST_CASE("graph model: wrong targets, classes and values in the file are refused in its own words") {
  const auto with_target = [](std::vector<std::string> targets) {
    return GraphModel(random_intercept(), standard_registry(), std::move(targets));
  };
  CHECK_THROWS_WITH_AS(with_target({}), "no target is given; name the observed variable to predict", Error);
  CHECK_THROWS_WITH_AS(with_target({"y", "y"}), "target 'y' is given twice", Error);
  CHECK_THROWS_WITH_AS(with_target({"q"}), doctest::Contains("q"), Error);
  GraphFile some = random_intercept();
  some.graph.observed("pair", 2);
  some.observations.push_back({some.graph.find_variable("pair"), {1.0, std::nullopt}});
  CHECK_THROWS_WITH_AS(GraphModel(some, standard_registry(), {"y"}),
                       "variable 'pair' has values for some of its elements; give all of them, or none and a column "
                       "for each",
                       Error);
  GraphModel numbers = with_target({"y"});
  CHECK_THROWS_WITH_AS(numbers.fit(Matrix::Zero(4, 2), ClassLabels::of({"a", "b", "a", "b"})),
                       "target 'y' is a number; for a class draw it by softmax from its scores", Error);
  CHECK_THROWS_WITH_AS((void)numbers.probabilities(Matrix::Zero(4, 2)),
                       "probabilities: target 'y' is a number; call predict", Error);
  const std::string unnamed = oracle::replaced(oracle::graph_file("scores.json"), R"("categories": ["red", "blue"])",
                                               R"json("family": "categorical(2)")json");
  GraphModel classes(parse_graph(unnamed), standard_registry(), {"c"});
  const Matrix x = random_matrix(6, 1, 3);
  CHECK_THROWS_WITH_AS(classes.fit(x, ClassLabels::of({"a", "b", "c", "a", "b", "c"})),
                       "target 'c' has 3 classes (a, b, c), but the graph scores for 2; as many are expected", Error);
  classes.fit(x, ClassLabels::of({"low", "high", "low", "low", "high", "low"}));
  CHECK(classes.classes() == std::vector<std::string>{"high", "low"});
  CHECK_THROWS_WITH_AS((void)classes.numbers_of(ClassLabels::of({"lo"})),
                       "target 'c' has no class 'lo'; did you mean 'low'? known: high, low", Error);
  CHECK_THROWS_WITH_AS(classes.update(x, Matrix::Zero(6, 1)), doctest::Contains("is a class"), Error);
}

TEST_CASE("graph model: the network of `dma fit` as a graph file learns the same bits, its size chosen too") {
  for (const auto& [inputs, rows] : {std::pair<Index, Index>{1, 150}, {3, 120}}) {
    CAPTURE(inputs);
    const Matrix x = random_matrix(rows, inputs, 11), fresh = random_matrix(40, inputs, 13),
                 noise = random_matrix(rows, 1, 12);
    const Matrix y = oracle::filled(
        rows, [&, last = inputs - 1](Index n) { return std::sin(2 * x(n, 0)) + 0.3 * x(n, last) + 0.1 * noise(n); });
    const auto columns = static_cast<std::size_t>(inputs);
    Bnn net({.layers = {columns, 10, 1}, .members = 2, .choose_width = true, .seed = 3});
    const GraphFile file = parse_graph(
        oracle::network_file(columns, "10, 20, 50, 100, 200", inputs > 2 ? "0.5, 1, 0.2" : "0.5, 1, 0.2, 0.07"));
    GaussianLearnOptions learn{.learn_noise = true, .learn_scale = true, .starts = 2, .seed = 3};
    for (const char* hidden : {"W1", "b1"}) learn.anchored.push_back(file.graph.find_variable(hidden));
    GraphModel model(file, standard_registry(), {"y"}, {learn, true});
    LearnOptions fit;
    fit.epochs = 30;
    const TableReport of_net = net.fit(x, y, fit), of_graph = model.fit({x, y}, {.options = fit});
    const GraphMixture::Memory &ours = net.jointly()->graphs().mixture().memory(),
                               &its = model.method().graphs().mixture().memory();
    CHECK(its.choice.sizes == ours.choice.sizes);
    CHECK(its.choice.smoothing == ours.choice.smoothing);
    CHECK(of_graph.graphs == of_net.graphs);
    CHECK(of_graph.neighbours == of_net.neighbours);
    CHECK(of_graph.noise == of_net.noise);
    CHECK(of_graph.left_out.at(0).scores.log_likelihood == of_net.left_out.at(0).scores.log_likelihood);
    const Prediction p = model.predict(fresh), expected = net.predict(fresh);
    CHECK(p.mean == expected.mean);
    CHECK(p.sd == expected.sd);
    CHECK(p.quantile(0.975) == expected.quantile(0.975));
    CHECK(model.beliefs()[0].name == "W1[0]");
    CHECK(model.beliefs().size() == its.choice.sizes[0] * (columns + 2) + 1);
  }
}
