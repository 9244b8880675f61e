#include "models/network/classifier.h"

#include <doctest/doctest.h>

#include <boost/random/mersenne_twister.hpp>
#include <boost/random/uniform_int_distribution.hpp>
#include <cmath>
#include <limits>

#include "engine/learn/gaussian/fit.h"
#include "engine/learn/gaussian/posterior.h"
#include "engine/support/fields.h"
#include "engine/support/text.h"
#include "factors/standard_registry.h"
#include "models/learn/table_learner.h"
#include "models/network/classifier_size.h"
#include "models/network/network_graph.h"
#include "tests/oracles/random_matrices.h"
#include "tests/oracles/relative.h"

namespace {

using namespace dma;
using oracle::random_matrix;

std::vector<std::string> chance_labels(Index rows, int classes, std::uint64_t seed) {
  boost::random::mt19937_64 random(seed);
  boost::random::uniform_int_distribution<int> which(0, classes - 1);
  std::vector<std::string> labels;
  for (Index n = 0; n < rows; ++n) labels.push_back("c" + std::to_string(which(random)));
  return labels;
}

// As its file has them.
Vector frequencies_of(Classifier& net) {
  Json json;
  Fields learned = Fields::to(json);
  net.method().list(learned, false);
  return unpacked(json.at("frequencies"));
}

// Fractions of the mixture.
double fraction_of_networks(const TableReport& report) {
  return (1 - report.frequencies) * report.graphs * (1 - (report.neighbours.empty() ? 0 : report.neighbours[0]));
}

std::vector<std::string> quadrants(const Matrix& x) {
  std::vector<std::string> labels;
  for (Index n = 0; n < x.rows(); ++n) labels.push_back((x(n, 0) > 0) == (x(n, 1) > 0) ? "same" : "different");
  return labels;
}

}  // namespace

TEST_CASE("classifier: labels that are chance get the frequencies of the classes, on fresh rows too") {
  constexpr double kMargin = 0.02;  // nats a row: what two percent of wrong confidence cost
  for (const int classes : {2, 5})
    for (const std::uint64_t seed : {1u, 2u}) {
      CAPTURE(classes);
      CAPTURE(seed);
      const Matrix x = random_matrix(150, 6, seed), fresh = random_matrix(1000, 6, seed + 100);
      const auto labels = chance_labels(150, classes, seed + 200);
      Classifier net({.hidden = std::vector<std::size_t>{12}, .members = 1, .seed = seed});
      const TableReport report = net.fit(x, labels);
      ClassLabels truth = ClassLabels::of(chance_labels(1000, classes, seed + 300));
      REQUIRE(truth.names == net.classes());
      const Matrix p = net.predict(fresh), frequencies = frequencies_of(net).transpose().replicate(1000, 1);
      const double honest = class_scores_of(frequencies, truth.of_rows).log_loss;
      CHECK(class_scores_of(p, truth.of_rows).log_loss < honest + kMargin);
      REQUIRE(report.left_out_classes);
      CHECK(report.left_out_classes->log_loss < report.of_frequencies.log_loss + kMargin);
    }
}

TEST_CASE(
    "classifier: what a line cannot separate is learned by the network, and the probabilities are probabilities") {
  const Matrix x = random_matrix(200, 2, 1), fresh = random_matrix(400, 2, 2);
  Classifier net({.hidden = std::vector<std::size_t>{12}, .members = 2});
  const TableReport report = net.fit(x, quadrants(x));
  CHECK(fraction_of_networks(report) > 0.99);
  CHECK(net.classes() == std::vector<std::string>{"different", "same"});
  const Matrix p = net.predict(fresh);
  CHECK((p.rowwise().sum().array() - 1).abs().maxCoeff() < 1e-12);
  CHECK(p.minCoeff() > 0);
  const ClassScores scores = class_scores_of(p, ClassLabels::of(quadrants(fresh)).of_rows);
  CHECK(scores.accuracy > 0.93);
  CHECK(scores.log_loss < 0.2);
  REQUIRE(report.left_out_classes);
  CHECK(report.left_out_classes->accuracy == oracle::relative(scores.accuracy, 0.05));
}

TEST_CASE(
    "classifier: classes that a line separates are left to the linear model, or to a network that agrees with it") {
  const Matrix x = random_matrix(120, 4, 3), fresh = random_matrix(400, 4, 4);
  const auto labels = [](const Matrix& rows) {
    std::vector<std::string> all;
    for (Index n = 0; n < rows.rows(); ++n) all.push_back(rows(n, 0) - rows(n, 1) > 0.3 ? "yes" : "no");
    return all;
  };
  Classifier net({.hidden = std::vector<std::size_t>{20}, .members = 1}),
      linear({.hidden = std::vector<std::size_t>{}});
  net.fit(x, labels(x));
  linear.fit(x, labels(x));
  const GraphMixture& mixture = linear.method().graphs().mixture();
  CHECK(mixture.memory().choice.sizes.empty());
  CHECK(mixture.memory().members.size() == 1);
  CHECK(!mixture.memory().simple);
  const auto truth = ClassLabels::of(labels(fresh)).of_rows;
  CHECK(class_scores_of(net.predict(fresh), truth).log_loss <
        class_scores_of(linear.predict(fresh), truth).log_loss + 0.02);
}

TEST_CASE("classifier: a row in the gap between two clusters is doubted more than the clusters") {
  Matrix clusters = 0.2 * random_matrix(60, 2, 7);
  std::vector<std::string> sides;
  for (Index n = 0; n < 60; ++n) {
    clusters(n, 0) += n % 2 == 0 ? -2 : 2;
    sides.push_back(n % 2 == 0 ? "left" : "right");
  }
  Classifier gap({.hidden = std::vector<std::size_t>{8}, .members = 1});
  gap.fit(clusters, sides);
  Matrix at(2, 2);
  at << 2, 0, 0.3, 0;
  const Matrix p = gap.predict(at);
  CHECK(p(0, 1) > 0.95);
  CHECK(p.row(1).maxCoeff() < 0.9);
}

TEST_CASE("classifier: rows count by their weights, in what is learned and in what is said of it") {
  // Two of three rows have the wrong class, and a tenth of the weight.
  const Matrix x = random_matrix(450, 2, 1), fresh = random_matrix(2000, 2, 2);
  ClassLabels labels = ClassLabels::of(quadrants(x));
  for (std::size_t n = 150; n < 450; ++n) labels.of_rows[n] = 1 - labels.of_rows[n];
  Vector weights = Vector::Constant(450, 0.1);
  weights.head(150).setOnes();
  Classifier net({.hidden = std::vector<std::size_t>{12}, .members = 1}), plain(net.options()), equal(net.options());
  const TableReport report = net.fit(x, labels, weights);
  const std::vector<Index> truth = ClassLabels::of(quadrants(fresh)).of_rows;
  const Matrix p = net.predict(fresh);
  CHECK(class_scores_of(p, truth).accuracy > 0.9);
  std::vector<Index> mixed = truth;  // wrong as often as the weights say
  for (std::size_t n = 0; n < mixed.size(); n += 6) mixed[n] = 1 - mixed[n];
  const ClassScores found = class_scores_of(p, mixed);
  REQUIRE(report.left_out_classes);
  CHECK(report.left_out_classes->accuracy == oracle::relative(found.accuracy, 0.05));
  CHECK(report.left_out_classes->log_loss == oracle::relative(found.log_loss, 0.1));
  Vector counts = Vector::Constant(2, 0.5);
  for (Index n = 0; n < 450; ++n) counts(labels.of_rows[static_cast<std::size_t>(n)]) += weights(n);
  CHECK((frequencies_of(net) - counts / counts.sum()).norm() < 1e-12);
  plain.fit(x, labels);
  CHECK(class_scores_of(plain.predict(fresh), truth).accuracy < 0.2);
  equal.fit(x, labels, Vector::Ones(450));
  CHECK((equal.predict(fresh) - plain.predict(fresh)).cwiseAbs().maxCoeff() < 1e-9);
  // A row of weight 0 is as if it were not there.
  weights.tail(350).setZero();
  Classifier less(net.options()), few(net.options());
  const TableReport of_less = less.fit(x, labels, weights);
  const Matrix near = x.topRows(100);
  const ClassLabels own{labels.names, {labels.of_rows.begin(), labels.of_rows.begin() + 100}};
  const TableReport of_few = few.fit(near, own);
  CHECK(less.predict(fresh) == few.predict(fresh));
  CHECK(of_less.left_out_classes->log_loss == of_few.left_out_classes->log_loss);
  CHECK_THROWS_WITH_AS(net.fit(x, labels, Vector::Ones(3)), doctest::Contains("3 weights are given for 450 rows"),
                       Error);
  weights(3) = -1;
  CHECK_THROWS_WITH_AS(net.fit(x, labels, weights), doctest::Contains("weight"), Error);
}

TEST_CASE("classifier: wrong options and data are refused") {
  const Matrix x = random_matrix(4, 2, 1);
  const std::vector<std::string> labels{"a", "b", "a", "b"};
  CHECK_THROWS_WITH_AS(Classifier({.slope = 0}), doctest::Contains("slope"), Error);
  CHECK_THROWS_WITH_AS(Classifier({.epochs = 0}), doctest::Contains("epochs"), Error);
  CHECK_THROWS_WITH_AS(Classifier().fit(x, std::vector<std::string>{"a", "b"}),
                       doctest::Contains("4 rows of inputs, but 2 labels"), Error);
  CHECK_THROWS_WITH_AS(Classifier().fit(x, std::vector<std::string>{"a", "b", "a", "c"}), doctest::Contains("one row"),
                       Error);
  Matrix hole = x;
  hole(1, 1) = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_WITH_AS(Classifier().fit(hole, labels), doctest::Contains("not a finite number"), Error);
  CHECK_THROWS_WITH_AS(Classifier().predict(x), doctest::Contains("before fit"), Error);
  Classifier four;
  four.fit(x, labels);
  CHECK_THROWS_WITH_AS(four.predict(random_matrix(2, 3, 1)),
                       doctest::Contains("3 columns are given, but it was fitted on 2"), Error);
}

TEST_CASE("classifier: its size follows rows, inputs and classes; what does not fit is refused") {
  CHECK(classifier_size(150, 4, 3, {}, 0).hidden == std::vector<std::size_t>{50});
  const auto digits = classifier_size(1617, 64, 10, {}, 0);
  CHECK(digits.hidden[0] >= 10);
  CHECK(digits.hidden[0] <= 25);
  CHECK(digits.members == 1);
  CHECK(classifier_size(1000, 64, 10, {}, 0).directions == 0);
  const auto wide = classifier_size(1000, 5000, 20, {}, 0);
  CHECK(wide.directions == 100);
  CHECK(wide.reason.find("reduced to 100 principal directions") != std::string::npos);
  CHECK(classifier_size(50, 2000, 2, {}, 0).directions == 49);
  CHECK(classifier_size(1'000'000, 50, 3, {}, 0).directions == 0);
  CHECK(classifier_size(100, 3, 2, std::vector<std::size_t>{}, 0).members == 0);
  CHECK(classifier_size(100, 3, 2, std::vector<std::size_t>{5, 4}, 3).members == 3);
  CHECK_THROWS_WITH_AS(classifier_size(100, 100, 2000, {}, 0), doctest::Contains("fewer columns or fewer rows"), Error);
  CHECK_THROWS_WITH_AS(classifier_size(100, 100, 10, std::vector<std::size_t>{5000}, 0),
                       doctest::Contains("a smaller network"), Error);
}

TEST_CASE(
    "classifier: more columns than rows are learned in the directions of the rows, as if nothing had been left out") {
  const Matrix x = random_matrix(40, 90, 8), fresh = random_matrix(30, 90, 9);
  std::vector<std::string> labels;
  for (Index n = 0; n < 40; ++n) labels.push_back(x.row(n).head(8).sum() > 0 ? "b" : "a");
  Classifier reduced({.hidden = std::vector<std::size_t>{}, .epochs = 60});
  const TableReport of_reduced = reduced.fit(x, labels);
  REQUIRE(reduced.method().directions().used());
  const GraphMixture::Memory& memory = reduced.method().graphs().mixture().memory();
  REQUIRE(memory.members.size() == 1);
  CHECK(memory.choice.sizes.empty());
  CHECK(reduced.method().directions().basis.cols() == 39);
  // The linear model of all 90 columns.
  const Standardiser standardiser = Standardiser::of(x);
  const BnnShape shape{.layers = {90, 1}, .slopes = {}};
  const BnnGraph graph = network_of_classes(shape, fan_in_priors(shape));
  const RowProgram all(graph.graph, standard_registry(), {graph.outputs});
  RowData data{standardiser.apply(x), Matrix(40, 1), {}, all.likelihoods()};
  for (Index n = 0; n < 40; ++n) data.targets(n, 0) = labels[static_cast<std::size_t>(n)] == "b" ? 1 : 0;
  SharedPrior prior{Vector::Zero(91), Vector::Constant(91, 91), std::vector<Index>(91, 0)};
  prior.precision(90) = 0.04, prior.group[90] = -1;
  SharedState state{.mean = Vector::Zero(91), .noise = {LogLinearNoise::constant(1)}};
  const auto curvature = make_primal();
  const double evidence =
      fit_shared(all, data, prior, {.epochs = 60, .learn_noise = false, .least_gain = 0}, state, *curvature);
  const SharedPosterior found = solution_of(all, data, state, *curvature, evidence, false).posterior;
  Matrix expected(30, 2);
  expected.col(1) = component(found.predict(all, prior, standardiser.apply(fresh)), found, {}, data.likelihoods).mean;
  expected.col(0) = (1 - expected.col(1).array()).matrix();
  const Matrix mixed = of_reduced.frequencies * frequencies_of(reduced).transpose().replicate(30, 1) +
                       (1 - of_reduced.frequencies) * expected;
  // Both stop when the evidence hardly changes, not at quite the same scale.
  CHECK((reduced.predict(fresh) - mixed).cwiseAbs().maxCoeff() < 0.03);
}
