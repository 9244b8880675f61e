// Intervals of the default network cover as promised, on a few small tables; for all tables: dma-lab honesty.
#include "tools/experiments/tables/honesty.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "models/network/regression.h"
#include "tests/oracles/random_matrices.h"
#include "tests/oracles/scores.h"
#include "tools/experiments/tables/honesty_tables.h"

using namespace dma;
using namespace dma::validation;

namespace {

void keeps_its_promise(const std::string& table, std::size_t seeds, const std::string& method = {}) {
  const HonestyResult r = measure_honesty(table, {seeds}, std::vector<std::size_t>{15}, method);
  CAPTURE(r.table);
  CAPTURE(r.rmse);
  CAPTURE(r.coverage);
  CHECK(r.coverage >= r.least_coverage);
  CHECK(r.coverage <= r.most_coverage);
  CHECK(r.rmse <= r.most_rmse);
}

double rmse_of_mean(const Eigen::MatrixXd& learned, const Eigen::MatrixXd& fresh) {
  const double mean = oracle::mean_of(learned);
  return oracle::rms(oracle::filled(fresh.rows(), [&](Eigen::Index n) { return fresh(n) - mean; }));
}

// The same for one network, learned from the first rows of a table only. Its RMSE is compared with the better of the
// mean and least squares.
void keeps_its_promise_by(const std::string& table, Eigen::Index rows, std::size_t hidden, double most_rmse) {
  const HonestyTable t = honesty_table(table, 1);
  const Eigen::MatrixXd x = t.inputs.topRows(rows), y = t.targets.topRows(rows);
  Bnn net({.layers = {static_cast<std::size_t>(x.cols()), hidden, 1}, .members = 1});
  net.fit(x, y);
  const Scores scores = scores_of(net.predict(t.test_inputs), t.test_targets)[0];
  const Standardiser standardiser = Standardiser::of(x);
  const Eigen::VectorXd line = oracle::line_through(standardiser.apply(x), y);
  const double of_line = oracle::rmse(oracle::on_line(line, standardiser.apply(t.test_inputs)), t.test_targets);
  CAPTURE(table);
  CAPTURE(scores.coverage_95);
  CHECK(scores.coverage_95 >= t.least_coverage);
  CHECK(scores.coverage_95 <= t.most_coverage);
  CHECK(scores.rmse <= most_rmse * std::min(rmse_of_mean(y, t.test_targets), of_line));
}

}  // namespace

TEST_CASE("honesty: pure noise gets the mean and the right width") {
  keeps_its_promise_by("noise, 20 features", 120, 15, 1.05);
}
TEST_CASE("honesty: linear data without noise are learned exactly") { keeps_its_promise("linear, no noise", 1); }
TEST_CASE("honesty: ten rows are known to be few") { keeps_its_promise("10 rows", 8); }
TEST_CASE("honesty: outliers, scales and idle columns do no harm") {
  keeps_its_promise_by("5 % outliers", 200, 8, 0.97);  // 0.92; other noise gives 0.55
  for (const char* table : {"feature x 1e9", "duplicated, constant"}) keeps_its_promise_by(table, 120, 8, 0.75);
}
TEST_CASE("honesty: noise that depends on the inputs is found") { keeps_its_promise("heteroscedastic", 1); }

TEST_CASE("honesty: the method of larger networks does not memorise noise either") {
  keeps_its_promise("weak signal, 20 x 300", 1, "hybrid");
}

TEST_CASE("honesty: uncertain in a gap and beyond the data") {
  const NoDataResult gap = measure_gap({1, 4}), beyond = measure_beyond({1, 4});
  CHECK(gap.coverage >= 0.8);
  CHECK(gap.sd_ratio >= 2.5);  // 4.5; other seeds give 3 to 13
  CHECK(beyond.coverage >= 0.8);
}

TEST_CASE("honesty: the library's default and the command line's are the same network") {
  const Eigen::MatrixXd x = oracle::random_matrix(60, 3, 1), noise = oracle::random_matrix(60, 1, 2);
  const Eigen::MatrixXd y = oracle::filled(60, [&](Eigen::Index n) { return x(n, 0) + 0.3 * noise(n); });
  Bnn by_default({.layers = {3, 10, 1}});
  by_default.fit(x, y);
  const RegressionSettings settings = regression_settings(3, {10}, 1, 60);
  Bnn by_settings(settings.network);
  by_settings.fit(x, y, settings.fit);
  CHECK(by_default.predict(x).mean == by_settings.predict(x).mean);
  CHECK(by_default.predict(x).sd == by_settings.predict(x).sd);
}

TEST_CASE("honesty: a weak signal is not memorised, and left-out scores foretell those of fresh rows") {
  const HonestyTable t = honesty_table("weak signal, 20 x 300", 5);
  Bnn net({.layers = {20, 15, 1}});
  const FitReport report = net.fit(t.inputs, t.targets);
  const Scores fresh = scores_of(net.predict(t.test_inputs), t.test_targets)[0];
  CHECK(fresh.coverage_95 >= t.least_coverage);
  CHECK(fresh.coverage_95 <= t.most_coverage);
  CHECK(fresh.rmse < 1.05 * 1.63);  // 1.63: least squares
  CHECK(report.left_out.at(0).scores.rmse == doctest::Approx(fresh.rmse).epsilon(0.12));
  CHECK(std::abs(report.left_out.at(0).scores.coverage_95 - 0.95) < 0.05);
  CHECK(report.left_out[0].explained > 0.1);
  CHECK(!report.form.empty());
}

TEST_CASE("honesty: y = |x| does not collapse") {
  const Eigen::MatrixXd x = Eigen::VectorXd::LinSpaced(100, -2, 2), noise = oracle::random_matrix(100, 1, 3);
  const auto bent = [&](double sd) {
    return oracle::filled(100, [&](Eigen::Index n) { return std::abs(x(n)) + sd * noise(n); });
  };
  Bnn net({.layers = {1, 20, 1}});
  net.fit(x, bent(0.05));
  CHECK(oracle::rmse(net.predict(x).mean, bent(0)) < 0.08);
}

TEST_CASE("honesty: with more weights than rows, left-out rows do not suffice to trust a network") {
  // Linear data; judged by its rows alone, this network would have all of the mixture.
  const HonestyTable t = honesty_table("200 features x 100", 103);
  const Standardiser of_inputs = Standardiser::of(t.inputs), of_targets = Standardiser::of(t.targets);
  JointRegression net({.shape = {.layers = {200, 20, 1}, .slopes = {0.1}}, .members = 1, .seed = 103});
  CHECK(net.fit({of_inputs.apply(t.inputs), of_targets.apply(t.targets)}).network_fraction < 0.5);
}

TEST_CASE("honesty: with more columns than rows there is noise left") {
  double coverage = 0;
  for (std::uint64_t seed = 101; seed <= 103; ++seed) {
    const HonestyTable t = honesty_table("200 features x 100", seed);
    const Eigen::Index rows = seed == 103 ? 100 : 99;  // seed 103: judged by folds; otherwise by leverage
    Bnn net({.layers = {200, 10, 1}, .members = 1});
    const FitReport report = net.fit(t.inputs.topRows(rows), t.targets.topRows(rows));
    CHECK(report.noise.at(0) > 0.1);  // 0.3
    const Scores fresh = scores_of(net.predict(t.test_inputs), t.test_targets)[0];
    CHECK(fresh.rmse < 0.4);
    coverage += fresh.coverage_95 / 3;
  }
  CHECK(coverage > 0.9);
}

TEST_CASE("honesty: noise of more columns than rows is not explained, and not learned") {
  double explained = 0, rmse = 0, of_mean = 0;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const HonestyTable t = honesty_table("noise, 150 features x 60", seed);
    Bnn net({.layers = {150, 10, 1}});
    explained += net.fit(t.inputs, t.targets).left_out.at(0).explained / 4;
    rmse += scores_of(net.predict(t.test_inputs), t.test_targets)[0].rmse / 4;
    of_mean += rmse_of_mean(t.targets, t.test_targets) / 4;
  }
  CHECK(explained < 0.05);  // leverage away from the mode is not exact and gives 0.1 to 0.2
  CHECK(rmse < 1.05 * of_mean);
}

TEST_CASE(
    "honesty: beyond the data of 8-6-5-1 a network is worth more "
    "than one that is linear, by the protocol of the experiments") {
  const ExtrapolationResult network = measure_extrapolation("joint-one", {3}),
                            linear = measure_extrapolation("joint-linear", {3});
  CHECK(network.coverage >= 0.9);
  CHECK(network.nll < linear.nll);
}
