// The default is honest before it is sharp. A few small tables here; `dma-lab honesty` has many.
#include <doctest/doctest.h>

#include <cmath>
#include <functional>

#include "models/network/bnn.h"
#include "tests/oracles/random_matrices.h"
#include "tests/oracles/scores.h"

using namespace dma;

namespace {

using Eigen::Index;
using Eigen::MatrixXd;

// Columns of standard normal numbers, and a target of the first of them with noise; fresh rows of the same law.
struct Table {
  MatrixXd x, y, fresh_x, fresh_y;

  Table(Index rows, Index columns, double noise, const std::function<double(const Eigen::RowVectorXd&)>& law,
        std::uint64_t seed) {
    const auto targets = [&](const MatrixXd& of, std::uint64_t own) {
      const MatrixXd e = oracle::random_matrix(of.rows(), 1, own);
      return oracle::filled(of.rows(), [&](Index n) { return law(of.row(n)) + noise * e(n); });
    };
    x = oracle::random_matrix(rows, columns, 4 * seed);
    fresh_x = oracle::random_matrix(1000, columns, 4 * seed + 1);
    y = targets(x, 4 * seed + 2);
    fresh_y = targets(fresh_x, 4 * seed + 3);
  }
  double rmse_of_mean() const { return oracle::rms(fresh_y.array() - y.mean()); }
};

double nothing(const Eigen::RowVectorXd&) { return 0; }
double made_signal(const Eigen::RowVectorXd& x) { return x(0) + 0.5 * x(1) * x(2); }

}  // namespace

TEST_CASE("honesty: pure noise gets the mean and the right width") {
  const Table t(120, 20, 1, nothing, 1);
  Bnn net({.layers = {20, 15, 1}, .members = 1});
  net.fit(t.x, t.y);
  const Scores fresh = scores_of(net.predict(t.fresh_x), t.fresh_y)[0];
  CHECK(fresh.rmse < 1.05 * t.rmse_of_mean());
  CHECK((fresh.coverage_95 > 0.9 && fresh.coverage_95 < 0.99));
}

TEST_CASE("honesty: a weak signal is not memorised, and left-out scores foretell those of fresh rows") {
  const Table t(300, 20, 1.5, made_signal, 5);
  Bnn net({.layers = {20, 15, 1}});
  const FitReport report = net.fit(t.x, t.y);
  const Scores fresh = scores_of(net.predict(t.fresh_x), t.fresh_y)[0];
  CHECK((fresh.coverage_95 > 0.9 && fresh.coverage_95 < 0.99));
  const double of_line = oracle::rmse(oracle::on_line(oracle::line_through(t.x, t.y), t.fresh_x), t.fresh_y);
  CHECK(fresh.rmse < 1.05 * of_line);
  CHECK(std::abs(report.left_out.at(0).scores.rmse / fresh.rmse - 1) < 0.15);
  CHECK(std::abs(report.left_out[0].scores.coverage_95 - 0.95) < 0.05);
  CHECK(!report.form.empty());
}

TEST_CASE("honesty: noise of more columns than rows is not explained, and not learned") {
  double explained = 0, rmse = 0, of_mean = 0;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const Table t(60, 150, 1, nothing, seed);
    Bnn net({.layers = {150, 10, 1}});
    explained += net.fit(t.x, t.y).left_out.at(0).explained / 4;
    rmse += scores_of(net.predict(t.fresh_x), t.fresh_y)[0].rmse / 4;
    of_mean += t.rmse_of_mean() / 4;
  }
  CHECK(explained < 0.05);
  CHECK(rmse < 1.05 * of_mean);
}

TEST_CASE("honesty: uncertain in a gap of the data") {
  MatrixXd x(100, 1);
  for (Index n = 0; n < 100; ++n) x(n) = (n % 2 == 0 ? 1 : -1) * (0.7 + 0.013 * static_cast<double>(n));
  const MatrixXd noise = oracle::random_matrix(100, 1, 3);
  const MatrixXd y = oracle::filled(100, [&](Index n) { return std::sin(2 * x(n)) + 0.1 * noise(n); });
  Bnn net({.layers = {1, 15, 1}});
  net.fit(x, y);
  const MatrixXd gap = Eigen::VectorXd::LinSpaced(50, -0.7, 0.7);
  const Prediction there = net.predict(gap);
  const Eigen::ArrayXXd off =
      (oracle::filled(50, [&](Index n) { return std::sin(2 * gap(n)); }) - there.mean).array().abs();
  CHECK((off <= 1.96 * there.epistemic_sd.array()).cast<double>().mean() >= 0.8);
  CHECK(there.epistemic_sd.mean() > 2 * net.predict(x).epistemic_sd.mean());
}

TEST_CASE("honesty: the library's default and the command line's are the same network") {
  const Table t(60, 3, 0.3, made_signal, 1);
  Bnn by_default({.layers = {3, 10, 1}});
  by_default.fit(t.x, t.y);
  const RegressionSettings settings = regression_settings(3, {10}, 1, 60);
  Bnn by_settings(settings.network);
  by_settings.fit(t.x, t.y, settings.fit);
  CHECK(by_default.predict(t.x).mean == by_settings.predict(t.x).mean);
  CHECK(by_default.predict(t.x).sd == by_settings.predict(t.x).sd);
}
