// Left-out predictions of the learned rows, from which a fit's scores are computed.
#include <doctest/doctest.h>

#include <cmath>

#include "engine/support/text.h"
#include "factors/standard_registry.h"
#include "models/network/bnn.h"
#include "models/network/classifier.h"
#include "models/predict/table_model.h"
#include "tests/oracles/high_precision.h"
#include "tests/oracles/random_matrices.h"
#include "tests/oracles/relative.h"
#include "tests/oracles/scores.h"

TEST_CASE("left out: the rows of a classifier have the scores that it reports, and are forgotten with it") {
  const Eigen::MatrixXd x = dma::oracle::random_matrix(60, 2, 3);
  std::vector<std::string> labels;
  for (Eigen::Index n = 0; n < 60; ++n) labels.push_back(x(n, 0) + 0.5 * x(n, 1) > 0.2 ? "up" : "down");
  const dma::ClassifierOptions options{.hidden = std::vector<std::size_t>{3}, .members = 1};
  dma::Classifier net(options);
  const dma::TableReport report = net.fit(x, labels);
  REQUIRE(net.left_out().rows() == 60);
  const std::vector<Eigen::Index> classes = dma::ClassLabels::of(labels).of_rows;
  const dma::ClassScores scores = dma::class_scores_of(net.left_out(), classes);
  CHECK(scores.log_loss == dma::oracle::relative(report.left_out_classes.value().log_loss, 1e-12));
  CHECK(scores.accuracy == report.left_out_classes->accuracy);
  dma::TableModel model = dma::TableModel::classifier(options, {"a", "b"}, "way", net.classes());
  model.fit({x, dma::oracle::filled(60, [&](auto n) { return static_cast<double>(classes[std::size_t(n)]); })},
            dma::class_fit(options));
  CHECK(model.classifier()->left_out() == net.left_out());
  const auto again = dma::TableModel::from_text(model.text(), "m.dma", dma::standard_registry());
  CHECK_THROWS_WITH_AS(again.classifier()->left_out(), "classifier: left-out rows are known after fit() only",
                       dma::Error);
}

TEST_CASE("left out: the fraction of the variance that is explained is right for targets of any size") {
  using dma::oracle::Real;
  const Eigen::VectorXd noise = dma::oracle::random_matrix(50, 1, 5).col(0);
  for (const double unit : {1e-300, 1e-160, 1.0, 1e154, 1e155, 1e300}) {
    const Eigen::VectorXd y = unit * (noise.array() + 0.3);
    const double rmse = 0.7 * unit;
    Real mean = 0, variance = 0;
    for (const double value : y) mean += Real(value) / 50;
    for (const double value : y) variance += (Real(value) - mean) * (Real(value) - mean) / 50;
    const Real truth = 1 - Real(rmse) * Real(rmse) / variance;
    CHECK(dma::oracle::relative_error(dma::fraction_explained(rmse, y), truth) < 1e-12);
  }
  CHECK(dma::fraction_explained(0, Eigen::VectorXd::Constant(7, 0.1)) == 0);
  CHECK(dma::fraction_explained(0, Eigen::VectorXd::Zero(3)) == 0);
}

TEST_CASE("left out: pure noise explains as little in units of 1e154 and 1e155 as in units of 1") {
  const Eigen::MatrixXd x = dma::oracle::random_matrix(60, 2, 8), y = dma::oracle::random_matrix(60, 1, 9);
  const auto explained = [&](double unit) {
    dma::Bnn net({.layers = {2, 3, 1}, .members = 1});
    return net.fit(x, unit * y, {.epochs = 10}).left_out[0].explained;
  };
  const double here = explained(1);
  CHECK(here < 0.1);
  for (const double unit : {1e154, 1e155}) CHECK(std::abs(explained(unit) - here) < 1e-6);
}
