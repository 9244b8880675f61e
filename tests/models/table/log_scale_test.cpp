#include "models/table/log_scale.h"

#include <doctest/doctest.h>

#include <cmath>
#include <numbers>

#include "models/learn/table_learner.h"
#include "models/network/bnn.h"
#include "models/network/classifier.h"
#include "models/table/standardiser.h"
#include "tests/oracles/random_matrices.h"
#include "tests/oracles/scores.h"

namespace {

using namespace dma;
using oracle::filled, oracle::random_matrix;

// exp of standard normal numbers.
Matrix amounts(Index rows, Index columns, std::uint64_t seed) {
  const Matrix logs = random_matrix(rows, columns, seed);
  return filled(rows, columns, [&](Index n, Index j) { return std::exp(logs(n, j)); });
}

// Columns that get a logarithmic scale.
std::vector<Index> logged(const Matrix& rows, const Matrix& targets, const Vector& weights = {}) {
  const Eigen::RowVectorXd from = log_scales_of(rows, targets, 1, weights);
  std::vector<Index> which;
  for (Index j = 0; j < from.size(); ++j) {
    if (from(j) == 0) continue;
    CHECK(from(j) == rows.col(j).minCoeff());
    which.push_back(j);
  }
  CHECK((from.size() == 0) == which.empty());
  return which;
}
using Which = std::vector<Index>;

}  // namespace

TEST_CASE("log scale: logarithms, below the smallest number the tangent, other columns as they are, and back") {
  Eigen::MatrixXd rows(5, 2);
  rows << 2, -7, 2.5, 0, 1e9, 1, 0, 2, -4, 3;
  const Eigen::MatrixXd logs = with_logs(rows, Eigen::RowVectorXd{{2, 0}});
  CHECK(logs(0, 0) == doctest::Approx(std::log(2)));
  CHECK(logs(1, 0) == doctest::Approx(std::log(2.5)));
  CHECK(logs(2, 0) == doctest::Approx(std::log(1e9)));
  CHECK(logs(3, 0) == doctest::Approx(std::log(2) - 1));
  CHECK(logs(4, 0) == doctest::Approx(std::log(2) - 3));
  CHECK(logs.col(1) == rows.col(1));
  const Standardiser s = Standardiser::of(rows, Eigen::VectorXd(), Eigen::RowVectorXd{{2, 0}});
  CHECK(s.shift(0) == doctest::Approx(logs.col(0).mean()));
  CHECK(std::abs(s.apply(rows).col(0).mean()) < 1e-12);
  CHECK(s.apply(s.centre()).cwiseAbs().maxCoeff() < 1e-12);
  // A centre below the smallest number lies on the tangent.
  const Standardiser low{Eigen::RowVectorXd{{std::log(2) - 3}}, Eigen::RowVectorXd{{1}}, Eigen::RowVectorXd{{2}}};
  CHECK(low.centre()(0) == doctest::Approx(-4));
}

TEST_CASE("log scale: amounts get one unless the target is smoother in them as they are; others never do") {
  const Index n = 300;
  const Matrix some = amounts(n, 2, 1), around_0 = random_matrix(n, 1, 2), around_10 = random_matrix(n, 1, 3),
               noise = random_matrix(n, 1, 4);
  Matrix rows = filled(n, 4, [&](Index i, Index j) {
    return j < 2 ? some(i, j) : j == 2 ? around_0(i) : around_10(i) + 10;
  });
  const auto logged_for = [&](double (*truth)(double x, double z), double sd) {
    return logged(rows, filled(n, [&](Index i) { return truth(some(i, 0), some(i, 1)) + sd * noise(i); }));
  };
  CHECK(logged_for([](double x, double) { return std::log(x); }, 0.3) == Which{0, 1});
  CHECK(logged_for([](double x, double) { return x; }, 0.3) == Which{1});
  CHECK(logged_for([](double x, double) { return x; }, 2) == Which{1});
  CHECK(logged_for([](double x, double z) { return x + z; }, 0.3) == Which{});
  CHECK(logged_for([](double x, double z) { return 1 / x + 3 * z; }, 0.1) == Which{0});
  CHECK(logged(rows, noise) == Which{0, 1});
  CHECK(logged(rows, Vector::Constant(n, 7)) == Which{0, 1});
  // Several targets count by their sum: one speaks loudly against the logarithm, one hardly for it.
  const Matrix both = filled(n, 2, [&](Index i, Index j) {
    return j == 0 ? std::log(some(i, 0)) + 10 * noise(i) : some(i, 0) + 0.3 * noise(i);
  });
  CHECK(logged(rows, both) == Which{1});
  // A number at or below 0, or few rows: as they are.
  rows(5, 0) = 0;
  CHECK(logged(rows, noise) == Which{1});
  CHECK(logged(rows.topRows(40), noise.topRows(40)) == Which{});
}

TEST_CASE("log scale: a row of weight 2 is two rows, and magnitudes do not matter") {
  const Index n = 120;
  const Matrix rows = amounts(n, 3, 5), noise = random_matrix(n, 1, 6);
  const Matrix y = filled(n, [&](Index i) { return rows(i, 0) + (std::log(rows(i, 1)) + noise(i)); });
  const Vector weights = filled(n, [](Index i) { return i < 30 ? 2 : 1; });
  Which repeated;
  for (Index i = 0; i < n + 30; ++i) repeated.push_back(i % n);
  CHECK(logged(rows, y) == Which{1, 2});
  CHECK(logged(rows, y, weights) == logged(oracle::chosen(rows, repeated), oracle::chosen(y, repeated)));
  for (const double unit : {1e-300, 1e-100, 1e100, 1e300}) CHECK(logged(unit * rows, 1e100 * y) == Which{1, 2});
}

TEST_CASE("log scale: networks see ratios and fresh rows gain; a linear table keeps its digits") {
  const auto fitted = [](const Matrix& x, const Matrix& y, bool log_inputs) {
    RegressionSettings settings = regression_settings(2, std::vector<std::size_t>{5}, 1, 200);
    settings.network.log_inputs = log_inputs;
    settings.network.members = 1;
    Bnn net(settings.network);
    net.fit(x, y, settings.fit);
    return net;
  };
  const auto wave = [](const Matrix& at, Index n) { return std::sin(std::log(at(n, 0) / at(n, 1))); };
  const Matrix x = amounts(200, 2, 7), fresh = amounts(1000, 2, 8), noise = random_matrix(200, 1, 9);
  const Matrix y = filled(200, [&](Index n) { return wave(x, n) + 0.1 * noise(n); }),
               truth = filled(1000, [&](Index n) { return wave(fresh, n); });
  const Bnn by_ratio = fitted(x, y, true), as_is = fitted(x, y, false);
  CHECK(by_ratio.jointly()->input_units().log_from.size() == 2);
  CHECK(as_is.jointly()->input_units().log_from.size() == 0);
  CHECK(oracle::rmse(by_ratio.predict(fresh).mean, truth) < 0.5 * oracle::rmse(as_is.predict(fresh).mean, truth));
  // New rows beyond what was learned, 0 and less included, have finite predictions that are less sure.
  const Prediction far = by_ratio.predict(Matrix{{0, 1}, {-1, 1}, {1, 1}});
  CHECK(far.mean.allFinite());
  CHECK(far.sd(1, 0) > far.sd(2, 0));
  const Matrix linear = filled(200, [&](Index n) { return x(n, 0) + x(n, 1) + 0.1 * noise(n); });
  CHECK(fitted(x, linear, true).predict(fresh).mean == fitted(x, linear, false).predict(fresh).mean);
}

TEST_CASE("log scale: of a classifier's inputs; its linear model alone reads them as they are") {
  const Matrix x = amounts(120, 2, 10), fresh = amounts(1000, 2, 11);
  const auto labels_of = [](const Matrix& rows) {
    std::vector<std::string> labels;
    for (Index n = 0; n < rows.rows(); ++n)
      labels.push_back(std::abs(std::log(rows(n, 0) * rows(n, 1))) < 0.8 ? "near" : "far");
    return labels;
  };
  const auto accuracy = [&](ClassifierOptions options) {
    options.members = 1;
    Classifier net(options);
    net.fit(x, labels_of(x));
    CHECK((net.method().input_units().log_from.size() > 0) == (options.log_inputs && !options.hidden->empty()));
    const Eigen::MatrixXd p = net.predict(fresh);
    const ClassLabels truth = ClassLabels::of(labels_of(fresh));
    int right = 0;
    for (Index n = 0; n < 1000; ++n) {
      Index best = 0;
      p.row(n).maxCoeff(&best);
      right += net.classes()[static_cast<std::size_t>(best)] ==
               truth.names[static_cast<std::size_t>(truth.of_rows[static_cast<std::size_t>(n)])];
    }
    return right;
  };
  const int with = accuracy({.hidden = std::vector<std::size_t>{8}}),
            without = accuracy({.hidden = std::vector<std::size_t>{8}, .log_inputs = false});
  CHECK(with > without + 20);
  accuracy({.hidden = std::vector<std::size_t>{}});
}

TEST_CASE("logarithmic targets: where noise is relative, predictions are log-normal and right on fresh rows") {
  constexpr Index kRows = 300, kFresh = 2000;
  constexpr double kNoise = 0.4;
  const Matrix x = random_matrix(kRows + kFresh, 2, 3), noise = random_matrix(kRows + kFresh, 1, 4);
  const Matrix y = (x.col(0).array() + (1.5 * x.col(1).array()).sin() + kNoise * noise.array()).exp();
  BnnOptions options{.layers = {2, 10, 1}, .learn_noise = true, .members = 1};
  const TableRows rows{x.topRows(kRows), y.topRows(kRows)}, fresh{x.bottomRows(kFresh), y.bottomRows(kFresh)};
  Bnn net(options);
  const FitReport report = net.fit(rows, TableFit{});
  options.log_target = false;
  Bnn plain(options);
  (void)plain.fit(rows, TableFit{});
  REQUIRE(net.jointly()->target_units().is_log(0));
  CHECK(!plain.jointly()->target_units().is_log(0));
  const Prediction p = net.predict(fresh.inputs);
  const Scores found = scores_of(p, fresh.targets)[0],
               before = scores_of(plain.predict(fresh.inputs), fresh.targets)[0];
  const Eigen::ArrayXd logs = fresh.targets.array().log();
  const double best = (-0.5 * noise.bottomRows(kFresh).array().square() - logs).mean() - std::log(kNoise) -
                      0.5 * std::log(2 * std::numbers::pi);
  CHECK(found.log_likelihood > best - 0.06);
  CHECK(found.log_likelihood > before.log_likelihood + 0.1);
  CHECK(std::abs(found.coverage_95 - 0.95) < 0.02);
  // Logarithms spread by about 1.3, and so do the densities of 300 rows.
  CHECK(std::abs(report.left_out[0].scores.log_likelihood - found.log_likelihood) < 4 * 1.3 / std::sqrt(kRows));
  CHECK(net.noise()[0] == oracle::relative(kNoise, 0.15));  // noise of the logarithm
  CHECK((p.quantile(0.001).array() > 0).all());
  CHECK_THROWS_WITH_AS((void)net.update(fresh.inputs.topRows(1), Matrix::Zero(1, 1), kRows),
                       doctest::Contains("logarithms of numbers above 0"), Error);
}

TEST_CASE("logarithmic targets: rows that were set aside for lying far do not speak against logarithms") {
  constexpr Index kRows = 400, kFresh = 4000;
  const Matrix x = random_matrix(kRows + kFresh, 2, 7), noise = random_matrix(kRows + kFresh, 1, 8);
  const Matrix y = (1 + 0.8 * x.col(0).array() + 0.5 * (2 * x.col(1).array()).sin() + noise.array()).exp();
  Bnn net({.layers = {2, 10, 1}, .learn_noise = true, .members = 1});
  (void)net.fit(TableRows{x.topRows(kRows), y.topRows(kRows)}, TableFit{});
  CHECK(net.jointly()->target_units().is_log(0));
  const Scores found = scores_of(net.predict(x.bottomRows(kFresh)), y.bottomRows(kFresh))[0];
  CHECK(std::abs(found.coverage_95 - 0.95) < 0.02);
}

TEST_CASE("logarithmic targets: noise that is the same for all rows speaks for the numbers as they are") {
  const Matrix x = random_matrix(300, 1, 5), noise = random_matrix(300, 1, 6);
  const Matrix y = x.array().exp() + 0.5 + 0.1 * noise.array();
  REQUIRE(skewed_from(y)(0) == y.minCoeff());
  Bnn net({.layers = {1, 10, 1}, .learn_noise = true, .members = 1});
  (void)net.fit(TableRows{x, y}, TableFit{});
  CHECK(!net.jointly()->target_units().is_log(0));
}
