#include <doctest/doctest.h>

#include <cmath>

#include "models/files/bnn_file.h"
#include "models/network/bnn_member.h"
#include "models/network/regression.h"
#include "tests/oracles/random_matrices.h"

using namespace dma;

namespace {

double rms(const Eigen::MatrixXd& m) { return std::sqrt(m.array().square().mean()); }

Bnn by_messages(const Eigen::MatrixXd& x, const Eigen::MatrixXd& y, FitReport& report) {
  RegressionSettings settings =
      regression_settings(static_cast<std::size_t>(x.cols()), {10}, 1, static_cast<std::size_t>(x.rows()), "hybrid");
  settings.fit.epochs = 20;
  Bnn net(settings.network);
  report = net.fit(x, y, settings.fit);
  return net;
}

}  // namespace

TEST_CASE("baseline: messages with more columns than rows leave linear data to the linear model") {
  const Eigen::MatrixXd x = oracle::random_matrix(60, 80, 1), fresh = oracle::random_matrix(200, 80, 2);
  const Eigen::MatrixXd y = x.leftCols(3).rowwise().sum() + 0.1 * oracle::random_matrix(60, 1, 3),
                        truth = fresh.leftCols(3).rowwise().sum();
  FitReport report;
  const Bnn net = by_messages(x, y, report);
  CHECK(report.network_fraction < 0.1);
  CHECK(rms(net.predict(fresh).mean - truth) < rms(truth));
  REQUIRE(net.left_out());
  CHECK(report.left_out.at(0).scores.rmse == doctest::Approx(rms(net.left_out()->mean - y)));
}

TEST_CASE("baseline: what is not linear stays with the network, and a file brings both back") {
  const Eigen::MatrixXd x = oracle::random_matrix(300, 2, 4);
  const Eigen::MatrixXd y = x.col(0).cwiseAbs() + x.col(1) + 0.1 * oracle::random_matrix(300, 1, 5);
  FitReport report;
  const Bnn net = by_messages(x, y, report);
  CHECK(report.network_fraction > 0.99);
  const Eigen::MatrixXd few = x.topRows(12), y_few = few.col(0) + 0.3 * oracle::random_matrix(12, 1, 6);
  const Bnn mixed = by_messages(few, y_few, report);
  CHECK(report.network_fraction < 1);
  Bnn again(mixed.options());
  again.restore(mixed.memory(true));
  CHECK(again.predict(x).mean == mixed.predict(x).mean);
  CHECK(again.predict(x).sd == mixed.predict(x).sd);
}

TEST_CASE("baseline: fractions of a mixture sum to 1") {
  const Eigen::MatrixXd ones = Eigen::MatrixXd::Ones(3, 1);
  std::vector<PredictionComponent> networks = {{ones, ones, ones}, {2 * ones, ones, ones}};
  add_baseline({{4 * ones, ones, ones}}, 0.5, networks);
  CHECK(Prediction::mix(networks).mean(0, 0) == doctest::Approx(0.25 * 1 + 0.25 * 2 + 0.5 * 4));
}
