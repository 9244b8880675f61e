// What the learned rows would have been predicted as: the rows behind the scores of a fit.
#include <doctest/doctest.h>

#include "models/classifier/classifier.h"
#include "models/network/bnn.h"
#include "tests/oracles/random_matrices.h"

TEST_CASE("left out: the rows of a joint fit have the scores that it reports; other methods know none") {
  const Eigen::MatrixXd x = dma::oracle::random_matrix(40, 2, 1), noise = dma::oracle::random_matrix(40, 1, 2);
  const Eigen::MatrixXd y = 100 + 30 * (x.col(0).array() + 0.3 * noise.col(0).array());
  dma::Bnn net({.layers = {2, 3, 1}, .members = 1});
  CHECK(!net.left_out());
  const dma::FitReport report = net.fit(x, y);
  REQUIRE(net.left_out());
  const dma::Scores scores = dma::scores_of(*net.left_out(), y)[0];
  CHECK(scores.rmse == doctest::Approx(report.left_out[0].scores.rmse).epsilon(1e-12));
  CHECK(scores.coverage_90 == report.left_out[0].scores.coverage_90);
  CHECK((net.left_out()->mean - y).norm() > (net.predict(x).mean - y).norm());  // the row itself has not helped
  dma::Bnn messages({.layers = {2, 2, 1}, .method = "hybrid"});
  messages.fit(x, y, {.batches = 4, .epochs = 1});
  CHECK(!messages.left_out());
}

TEST_CASE("left out: the rows of a classifier have the scores that it reports, and are forgotten with it") {
  const Eigen::MatrixXd x = dma::oracle::random_matrix(60, 2, 3);
  std::vector<std::string> labels;
  for (Eigen::Index n = 0; n < 60; ++n) labels.push_back(x(n, 0) + 0.5 * x(n, 1) > 0.2 ? "up" : "down");
  dma::Classifier net({.hidden = std::vector<std::size_t>{3}, .members = 1});
  const dma::ClassifierReport report = net.fit(x, labels);
  REQUIRE(net.left_out().rows() == 60);
  const dma::ClassScores scores = dma::class_scores_of(net.left_out(), dma::ClassLabels::of(labels).of_rows);
  CHECK(scores.log_loss == report.left_out.log_loss);
  CHECK(scores.accuracy == report.left_out.accuracy);
  net.restore(net.memory());
  CHECK(net.left_out().rows() == 0);
}
