#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "models/learn/mixing.h"
#include "models/network/bnn.h"
#include "tests/oracles/random_matrices.h"
#include "tests/oracles/relative.h"
#include "tests/oracles/saved_network.h"
#include "tests/oracles/scores.h"

using namespace dma;

namespace {

using oracle::filled, oracle::rmse;

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
  const Eigen::MatrixXd noise = oracle::random_matrix(60, 1, 3);
  const auto sum = [](const Eigen::MatrixXd& at, Eigen::Index n) { return at(n, 0) + at(n, 1) + at(n, 2); };
  const Eigen::MatrixXd y = filled(60, [&](Eigen::Index n) { return sum(x, n) + 0.1 * noise(n); }),
                        truth = filled(200, [&](Eigen::Index n) { return sum(fresh, n); });
  FitReport report;
  const Bnn net = by_messages(x, y, report);
  CHECK(report.graphs < 0.1);
  CHECK(rmse(net.predict(fresh).mean, truth) < oracle::rms(truth));
  REQUIRE(net.left_out());
  CHECK(report.left_out.at(0).scores.rmse == doctest::Approx(rmse(net.left_out()->mean, y)));
}

TEST_CASE("baseline: what is not linear stays with the network, and a file brings both back") {
  const Eigen::MatrixXd x = oracle::random_matrix(300, 2, 4), noise = oracle::random_matrix(300, 1, 5),
                        more = oracle::random_matrix(12, 1, 6);
  const Eigen::MatrixXd y = filled(300, [&](Eigen::Index n) { return std::abs(x(n, 0)) + x(n, 1) + 0.1 * noise(n); });
  FitReport report;
  const Bnn net = by_messages(x, y, report);
  CHECK(report.graphs > 0.99);
  const Eigen::MatrixXd few = x.topRows(12),
                        y_few = filled(12, [&](Eigen::Index n) { return few(n, 0) + 0.3 * more(n); });
  const Bnn mixed = by_messages(few, y_few, report);
  CHECK(report.graphs < 1);
  const Bnn again = oracle::read_again(mixed);
  CHECK(again.predict(x).mean == mixed.predict(x).mean);
  CHECK(again.predict(x).sd == mixed.predict(x).sd);
}

TEST_CASE("baseline: fractions of a mixture sum to 1") {
  const Eigen::MatrixXd ones = Eigen::MatrixXd::Ones(3, 1);
  std::vector<PredictionComponent> networks = {{ones, ones, ones, 0.5 * ones}, {2 * ones, ones, ones, 0.5 * ones}};
  add_component({4 * ones, ones, ones, 0.5 * ones}, networks);
  CHECK(Prediction::mix(networks).mean(0, 0) == doctest::Approx(0.25 * 1 + 0.25 * 2 + 0.5 * 4));
}

TEST_CASE("neighbours: the fraction of a second model is the likeliest on a grid, and needs more than the doubt") {
  const Eigen::MatrixXd drawn = oracle::random_matrix(50, 1, 7);
  for (const double shift : {-3.0, -0.3, 0.0, 0.4, 5.0, 2000.0}) {
    const Eigen::VectorXd ahead = filled(50, [&](Eigen::Index n) { return 2 * drawn(n) + shift; });
    double best = 0, most = 0;
    for (int i = 1; i <= 1000; ++i) {
      double sum = 0;
      for (const double nats : ahead) {
        const double f = i / 1000.0, top = std::max(0.0, nats);
        sum += top + std::log((1 - f) * std::exp(-top) + f * std::exp(nats - top));
      }
      if (sum > most) most = sum, best = i / 1000.0;
    }
    CHECK(likeliest_fraction(ahead, 0) == oracle::relative(best, 0.002));
    CHECK(likeliest_fraction(ahead, most + 1) == 0);
    if (most > 0.1) CHECK(likeliest_fraction(ahead, most - 0.1) > 0);
  }
}

TEST_CASE("neighbours: local structure is theirs, of pure noise they get nothing") {
  const Eigen::MatrixXd x = oracle::random_matrix(400, 2, 1), fresh = oracle::random_matrix(300, 2, 2);
  const Eigen::MatrixXd noise_of_x = oracle::random_matrix(400, 1, 3);
  const auto wave = [](const auto& at, Eigen::Index n) { return 10 + 3 * std::sin(6 * at(n, 0)) + at(n, 1); };
  const Eigen::MatrixXd y = filled(400, [&](Eigen::Index n) { return wave(x, n) + 0.2 * noise_of_x(n); }),
                        truth = filled(300, [&](Eigen::Index n) { return wave(fresh, n); });
  BnnOptions options{.layers = {2, 5, 1}, .members = 1};
  Bnn net(options);
  const FitReport report = net.fit(x, y);
  REQUIRE(report.neighbours.size() == 1);
  CHECK(report.neighbours[0] > 0.9);
  CHECK(report.line().find("neighbours ") != std::string::npos);
  const Prediction found = net.predict(fresh);
  CHECK(rmse(found.mean, truth) < 0.5);
  CHECK(report.left_out.at(0).scores.rmse == doctest::Approx(rmse(net.left_out()->mean, y)));
  CHECK(report.noise.at(0) == oracle::relative(0.2, 0.5));
  Bnn again = oracle::read_again(net);
  CHECK(again.predict(fresh).quantile(0.9) == found.quantile(0.9));
  again.update(fresh, truth, 400);
  CHECK(rmse(again.predict(fresh).mean, truth) < 0.5 * rmse(found.mean, truth));
  options.neighbours = false;
  Bnn alone(options);
  CHECK(alone.fit(x, y).neighbours.empty());
  CHECK(rmse(alone.predict(fresh).mean, truth) > rmse(found.mean, truth));
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    Bnn of_noise({.layers = {5, 5, 1}, .members = 1, .seed = seed});
    const Eigen::MatrixXd noise = oracle::random_matrix(60, 6, seed);
    CHECK(of_noise.fit(noise.leftCols(5), noise.rightCols(1)).neighbours.empty());
  }
}

TEST_CASE("neighbours: 95 % intervals of the mixture hold no more rows than they say, learned or fresh") {
  // Some waves, of which neighbours and networks each know a part: where they differ, one of them is wrong.
  const auto waves = [](const Eigen::MatrixXd& at, std::uint64_t seed) {
    const Eigen::MatrixXd noise = oracle::random_matrix(at.rows(), 1, seed);
    return filled(at.rows(), [&](Eigen::Index n) {
      double sum = 0;
      for (Eigen::Index j = 0; j < 4; ++j) sum += std::sin(2 * at(n, j));
      return sum + 0.2 * noise(n);
    });
  };
  const Eigen::MatrixXd x = oracle::random_matrix(800, 10, 1), fresh = oracle::random_matrix(2000, 10, 2);
  Bnn net({.layers = {10, 12, 1}, .members = 1});
  const FitReport report = net.fit(x, waves(x, 3));
  REQUIRE(report.neighbours.size() == 1);
  CHECK(report.neighbours[0] < 0.99);
  for (const double coverage :
       {report.left_out.at(0).scores.coverage_95, oracle::inside_95(net.predict(fresh).cumulative(waves(fresh, 4)))}) {
    CHECK(coverage > 0.93);
    CHECK(coverage < 0.97);
  }
}
