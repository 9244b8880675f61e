#include "models/neighbours/class_neighbours.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "factors/standard_registry.h"
#include "models/learn/table_learner.h"
#include "models/network/classifier.h"
#include "models/predict/table_model.h"
#include "tests/oracles/random_matrices.h"
#include "tests/oracles/relative.h"
#include "tests/oracles/scores.h"

namespace {

using namespace dma;
using oracle::random_matrix;

// By sorting all distances.
Vector formula(const ClassNeighbours::Memory& m, const Vector& frequencies, const Vector& point, Index without = -1) {
  std::vector<std::pair<double, Index>> all;
  for (Index n = 0; n < m.rows.rows(); ++n)
    if (n != without) all.emplace_back((m.rows.row(n).transpose() - point).squaredNorm(), n);
  std::ranges::sort(all);
  Vector p = m.doubt * frequencies;
  for (std::size_t k = 0; k < std::min<std::size_t>(all.size(), ClassNeighbours::kNeighbours); ++k)
    p(m.classes[static_cast<std::size_t>(all[k].second)]) +=
        weight_of(m.weights, all[k].second) * std::exp(-all[k].first / (2 * m.width));
  return p / p.sum();
}

std::vector<Index> checkerboard(const Matrix& x) {
  std::vector<Index> classes;
  for (Index n = 0; n < x.rows(); ++n)
    classes.push_back(static_cast<Index>(std::floor(2 * x(n, 0)) + std::floor(2 * x(n, 1)) + 100) % 2);
  return classes;
}

}  // namespace

TEST_CASE("class neighbours: the formula with all rows sorted, learned rows without themselves, frequencies far away") {
  // By a tree, by products, with weights of rows.
  for (const auto& [columns, is_weighted] : {std::pair<Index, bool>{3, false}, {20, false}, {3, true}}) {
    const Matrix rows = random_matrix(120, columns, 1), points = random_matrix(40, columns, 2);
    std::vector<Index> classes;
    for (Index n = 0; n < rows.rows(); ++n) classes.push_back(rows(n, 0) > 0.7 ? 2 : rows(n, 1) > 0 ? 1 : 0);
    const Vector frequencies = Vector{{0.5, 0.3, 0.2}}, units = Vector::LinSpaced(columns, 0.1, 10);
    Matrix without(rows.rows(), 3);  // each row
    for (Index n = 0; n < rows.rows(); ++n)
      without.row(n) = (150 * frequencies - Vector::Unit(3, classes[static_cast<std::size_t>(n)])).transpose() / 149;
    const Vector weights = is_weighted ? Vector(random_matrix(rows.rows(), 1, 3).cwiseAbs()) : Vector();
    const ClassNeighbours::Fit fit = ClassNeighbours::fit(rows, units, classes, frequencies, without, 2, weights);
    const ClassNeighbours::Memory& m = fit.model.memory();
    const Matrix found = fit.model.predict(points);
    for (Index i = 0; i < points.rows(); ++i)
      CHECK((found.row(i).transpose() - formula(m, frequencies, m.scales.asDiagonal() * points.row(i).transpose()))
                .norm() < 1e-12);
    const auto left_out = [&](const ClassNeighbours::Memory& of, Index n) {
      return formula(of, without.row(n).transpose(), of.rows.row(n).transpose(), n);
    };
    for (Index n = 0; n < rows.rows(); ++n) CHECK((fit.left_out.row(n).transpose() - left_out(m, n)).norm() < 1e-12);
    const Matrix far = fit.model.predict(Matrix::Constant(1, columns, 1e4));
    CHECK((far.row(0).transpose() - frequencies).norm() < 1e-12);
    // No other width or doubt, a step of the search away, makes the learned rows more probable.
    const auto score = [&](double width, double doubt) {
      ClassNeighbours::Memory other = m;
      other.width = width, other.doubt = doubt;
      double sum = 0;
      for (Index n = 0; n < rows.rows(); ++n)
        sum += weight_of(weights, n) * std::log(left_out(other, n)(classes[static_cast<std::size_t>(n)]));
      return sum;
    };
    constexpr double kFlat = 1e-6;  // the least doubt of the search is as good as none
    for (const double other : {std::exp(-0.5), std::exp(0.5)}) {
      CHECK(score(m.width, m.doubt) > score(m.width * other, m.doubt) - kFlat);
      CHECK(score(m.width, m.doubt) > score(m.width, m.doubt * other) - kFlat);
    }
  }
}

TEST_CASE("class neighbours: columns count in their own units where these tell more") {
  // The first column tells the class, nineteen others are small noise: their units say so.
  const Matrix rows = random_matrix(300, 20, 3);
  std::vector<Index> classes;
  for (Index n = 0; n < rows.rows(); ++n) classes.push_back(std::abs(rows(n, 0)) > 0.7 ? 1 : 0);
  Vector units = Vector::Constant(20, 0.01);
  units(0) = 5;
  const Vector half = Vector::Constant(2, 0.5);
  const Matrix halves = Matrix::Constant(300, 2, 0.5);
  const ClassNeighbours::Fit own = ClassNeighbours::fit(rows, units, classes, half, halves);
  const ClassNeighbours::Fit equal = ClassNeighbours::fit(rows, Vector::Ones(20), classes, half, halves);
  CHECK(own.model.memory().scales(1) == doctest::Approx(0.002));
  const auto log_score = [&](const Matrix& p) {
    double sum = 0;
    for (Index n = 0; n < p.rows(); ++n) sum += std::log(p(n, classes[static_cast<std::size_t>(n)]));
    return sum;
  };
  CHECK(log_score(own.left_out) > log_score(equal.left_out) + 50);
}

TEST_CASE("classifier: labels of many classes that have nothing to do with the rows are not left to neighbours") {
  const Matrix x = random_matrix(400, 3, 7);
  ClassLabels labels;
  for (Index k = 0; k < 20; ++k) labels.names.push_back("k" + std::to_string(k));
  for (Index n = 0; n < x.rows(); ++n) labels.of_rows.push_back(n % 20);
  const TableReport report = Classifier({.hidden = std::vector<std::size_t>{3}, .members = 1}).fit(x, labels);
  CHECK(report.neighbours.empty());
  CHECK(report.left_out_classes.value().log_loss > std::log(20));
}

TEST_CASE("classifier: a checkerboard is left to its neighbours, what is said of it holds, and files keep it") {
  const Matrix x = random_matrix(700, 2, 5), fresh = random_matrix(4000, 2, 6);
  const std::vector<Index> classes = checkerboard(x), truth = checkerboard(fresh);
  TableRows rows{x, oracle::filled(700, [&](Index n) { return double(classes[static_cast<std::size_t>(n)]); })};
  ClassifierOptions options{.hidden = std::vector<std::size_t>{10}, .members = 1};
  const auto learned = [&] {
    TableModel net = TableModel::classifier(options, {"u", "v"}, "t", {"black", "white"});
    net.fit(rows, class_fit(options));
    return net;
  };
  const TableModel with = learned();
  options.neighbours = false;
  const TableModel without = learned();
  options.neighbours = true;
  CHECK(without.training().report.neighbours.empty());
  const ClassScores found = class_scores_of(with.probabilities(fresh), truth);
  const TableReport& report = with.training().report;
  CHECK(report.neighbours.at(0) > 0.5);
  Matrix fractions = Matrix::Zero(4000, 1);
  for (const PredictionComponent& c : with.predict_any(fresh).components) fractions += c.weight;
  CHECK(oracle::farthest(fractions, Matrix::Ones(4000, 1)) < 1e-12);
  CHECK(found.log_loss < class_scores_of(without.probabilities(fresh), truth).log_loss - 0.1);
  CHECK(report.left_out_classes.value().log_loss == oracle::relative(found.log_loss, 0.1));
  const auto check_kept = [&](const TableModel& net) {
    REQUIRE(net.jointly()->class_neighbours());
    const TableModel read = TableModel::from_text(net.text(), "m.dma", standard_registry());
    CHECK(read.text() == net.text());
    CHECK(read.probabilities(fresh) == net.probabilities(fresh));
  };
  check_kept(with);
  rows.weights = random_matrix(700, 1, 7).cwiseAbs();
  const TableModel weighted = learned();
  CHECK(weighted.jointly()->class_neighbours()->memory().weights.size() == 700);
  check_kept(weighted);
}
