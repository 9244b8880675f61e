// The default is honest before it is sharp. A few small tables here; all of them: dma-lab honesty.
#include <doctest/doctest.h>

#include "models/network/regression.h"
#include "tests/oracles/random_matrices.h"
#include "tools/experiments/tables/honesty.h"
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

}  // namespace

TEST_CASE("honesty: pure noise gets the mean and the right width") { keeps_its_promise("noise, 20 features", 1); }
TEST_CASE("honesty: a weak signal is not memorised") { keeps_its_promise("weak signal, 20 x 300", 2); }
TEST_CASE("honesty: linear data without noise are learned exactly") { keeps_its_promise("linear, no noise", 1); }
TEST_CASE("honesty: ten rows are known to be few") { keeps_its_promise("10 rows", 8); }
TEST_CASE("honesty: outliers, scales and idle columns do no harm") {
  for (const char* table : {"5 % outliers", "feature x 1e9", "duplicated, constant"}) keeps_its_promise(table, 1);
}
TEST_CASE("honesty: noise that depends on the inputs is found") { keeps_its_promise("heteroscedastic", 1); }

TEST_CASE("honesty: the method of larger networks does not memorise noise either") {
  keeps_its_promise("weak signal, 20 x 300", 1, "hybrid");
}

TEST_CASE("honesty: uncertain in a gap and beyond the data") {
  const NoDataResult gap = measure_gap({3}), beyond = measure_beyond({3});
  CHECK(gap.coverage >= 0.8);
  CHECK(gap.sd_ratio >= 2.5);  // 3 on average over twenty seeds
  CHECK(beyond.coverage >= 0.8);
}

TEST_CASE("honesty: the library's default and the command line's are the same network") {
  const Eigen::MatrixXd x = oracle::random_matrix(60, 3, 1);
  const Eigen::MatrixXd y = x.col(0) + 0.3 * oracle::random_matrix(60, 1, 2);
  Bnn by_default({.layers = {3, 10, 1}});
  by_default.fit(x, y);
  const RegressionSettings settings = regression_settings(3, {10}, 1, 60);
  Bnn by_settings(settings.network);
  by_settings.fit(x, y, settings.fit);
  CHECK(by_default.predict(x).mean == by_settings.predict(x).mean);
  CHECK(by_default.predict(x).sd == by_settings.predict(x).sd);
}

TEST_CASE("honesty: left-out scores foretell those of fresh rows") {
  const HonestyTable t = honesty_table("weak signal, 20 x 300", 5);
  Bnn net({.layers = {20, 15, 1}});
  const FitReport report = net.fit(t.inputs, t.targets);
  const Scores fresh = scores_of(net.predict(t.test_inputs), t.test_targets)[0];
  CHECK(report.left_out.at(0).scores.rmse == doctest::Approx(fresh.rmse).epsilon(0.12));
  CHECK(std::abs(report.left_out.at(0).scores.coverage_95 - 0.95) < 0.05);
  CHECK(report.left_out[0].explained > 0.1);
  CHECK(!report.form.empty());
}

TEST_CASE("honesty: y = |x| does not collapse") {
  const Eigen::MatrixXd x = Eigen::VectorXd::LinSpaced(100, -2, 2);
  const Eigen::MatrixXd y = x.cwiseAbs() + 0.05 * oracle::random_matrix(100, 1, 3);
  Bnn net({.layers = {1, 20, 1}});
  net.fit(x, y);
  CHECK(std::sqrt((net.predict(x).mean - x.cwiseAbs()).array().square().mean()) < 0.08);
}

TEST_CASE("honesty: with more weights than rows, left-out rows alone do not make a network believed") {
  for (const std::uint64_t seed :
       {102u, 104u}) {  // linear data; here left-out rows prefer networks whose error is 20 % larger
    const HonestyTable t = honesty_table("200 features x 100", seed);
    const Standardiser of_inputs = Standardiser::of(t.inputs), of_targets = Standardiser::of(t.targets);
    JointRegression net({.shape = {.layers = {200, 50, 1}, .slopes = {0.1}}, .seed = seed});
    CHECK(net.fit({of_inputs.apply(t.inputs), of_targets.apply(t.targets)}).network_fraction < 0.5);
  }
}

TEST_CASE("honesty: with more columns than rows there is noise left") {
  double coverage = 0;
  for (std::uint64_t seed = 101; seed <= 103; ++seed) {
    const HonestyTable t = honesty_table("200 features x 100", seed);
    Bnn net({.layers = {200, 10, 1}});
    const FitReport report = net.fit(t.inputs, t.targets);
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
    of_mean += std::sqrt((t.test_targets.array() - t.targets.mean()).square().mean()) / 4;
  }
  CHECK(explained < 0.05);  // leverage away from the mode, where it is not exact, says 0.1 to 0.2
  CHECK(rmse < 1.05 * of_mean);
}

TEST_CASE(
    "honesty: beyond the data of 8-6-5-1 a network is worth more than one that is linear, by the protocol of the "
    "experiments") {
  const ExtrapolationResult network = measure_extrapolation("joint-one", {3}),
                            linear = measure_extrapolation("joint-linear", {3});
  CHECK(network.coverage >= 0.9);
  CHECK(network.nll < linear.nll);
}
