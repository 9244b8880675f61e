#include "models/mixtures/gaussian_mixture.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <boost/random/mersenne_twister.hpp>
#include <boost/random/normal_distribution.hpp>
#include <cmath>
#include <numbers>

#include "engine/support/error.h"
#include "tests/oracles/relative.h"

namespace {

using namespace dma;

// Rows around each of these centres in turn.
Eigen::MatrixXd clusters(Eigen::Index rows, const Eigen::MatrixXd& centres, double sd, std::uint64_t seed) {
  boost::random::mt19937_64 random(seed);
  boost::random::normal_distribution<double> normal;
  Eigen::MatrixXd x(rows, centres.cols());
  for (Eigen::Index i = 0; i < rows; ++i)
    for (Eigen::Index j = 0; j < centres.cols(); ++j) x(i, j) = centres(i % centres.rows(), j) + sd * normal(random);
  return x;
}

}  // namespace

TEST_CASE("mixture of Gaussians: likelihood and shares are those of the formula") {
  const Eigen::MatrixXd x = clusters(60, (Eigen::MatrixXd(2, 2) << 0, 0, 3, -2).finished(), 1, 4);
  const MixtureFit fit = gaussian_mixture(x, {.components = 2});
  CHECK(fit.converged);
  double log_likelihood = 0;
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    double density[2];
    for (Eigen::Index k = 0; k < 2; ++k) {
      density[k] = fit.weight[k];
      for (Eigen::Index j = 0; j < 2; ++j)
        density[k] *= std::exp(-0.5 * std::pow(x(i, j) - fit.mean(k, j), 2) / fit.variance(k, j)) /
                      std::sqrt(2 * std::numbers::pi * fit.variance(k, j));
    }
    log_likelihood += std::log(density[0] + density[1]);
    CHECK(fit.probability(i, 0) == oracle::relative(density[0] / (density[0] + density[1]), 1e-9));
  }
  CHECK(fit.log_likelihood == oracle::relative(log_likelihood, 1e-10));
  CHECK(fit.log_evidence == oracle::relative(log_likelihood - 0.5 * 9 * std::log(60.0), 1e-10));
  CHECK(fit.weight[0] >= fit.weight[1]);
}

TEST_CASE("mixture of Gaussians: as many as there are") {
  const auto found = [](const Eigen::MatrixXd& centres, Eigen::Index rows, double sd, std::uint64_t seed) {
    return gaussian_mixture(clusters(rows, centres, sd, seed), {.starts = 3, .tolerance = 1e-4}).components();
  };
  int right = 0;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    right += found(Eigen::MatrixXd::Zero(1, 1), 25, 1, seed) == 1;  // no clusters: one
    right += found(Eigen::MatrixXd::Zero(1, 3), 100, 1, seed) == 1;
    right += found((Eigen::MatrixXd(2, 1) << -3, 3).finished(), 60, 1, seed) == 2;
    right += found((Eigen::MatrixXd(3, 2) << -5, 0, 5, 0, 0, 6).finished(), 90, 1, seed) == 3;
  }
  CHECK(right >= 11);
  const MixtureFit three =
      gaussian_mixture(clusters(90, (Eigen::MatrixXd(3, 2) << -5, 0, 5, 0, 0, 6).finished(), 1, 1));
  CHECK(three.candidates.size() >= 4);
  CHECK(three.log_evidence == three.candidates[2]);
  int apart = 0;  // rows came from the three in turn
  for (Eigen::Index i = 3; i < 90; ++i) {
    Eigen::Index mine = 0, first = 0;
    three.probability.row(i).maxCoeff(&mine), three.probability.row(i % 3).maxCoeff(&first);
    apart += mine != first;
  }
  CHECK(apart == 0);
}

TEST_CASE("mixture of Gaussians: the seed fixes everything; equal rows and constant columns do no harm") {
  const Eigen::MatrixXd x = clusters(40, (Eigen::MatrixXd(2, 1) << -2, 2).finished(), 1, 9);
  const MixtureFit a = gaussian_mixture(x), b = gaussian_mixture(x);
  CHECK(a.mean == b.mean);
  CHECK(a.log_evidence == b.log_evidence);
  Eigen::MatrixXd equal(12, 2);
  equal.setConstant(3);
  const MixtureFit one = gaussian_mixture(equal);
  CHECK(one.components() == 1);
  CHECK(one.mean(0, 0) == 3);
  CHECK(one.variance.minCoeff() > 0);
}

TEST_CASE("mixture of Gaussians: a row that two columns ascribe to two components, by a thousand nats each") {
  // In a component of 2000 rows it is 2000 / 2 nats from the middle, in the others much more.
  Eigen::MatrixXd x = clusters(6000, (Eigen::MatrixXd(3, 2) << 0, 0, 0, 1, 1, 0).finished(), 1e-3, 3);
  x.row(7) << 1, 1;
  const MixtureFit fit = gaussian_mixture(x, {.components = 3, .starts = 1});
  REQUIRE(fit.components() == 3);
  double log_likelihood = 0;
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    double logs[3];
    for (Eigen::Index k = 0; k < 3; ++k) {
      logs[k] = std::log(fit.weight[k]);
      for (Eigen::Index j = 0; j < 2; ++j)
        logs[k] -= 0.5 * std::pow(x(i, j) - fit.mean(k, j), 2) / fit.variance(k, j) +
                   0.5 * std::log(2 * std::numbers::pi * fit.variance(k, j));
    }
    const double largest = std::max({logs[0], logs[1], logs[2]});
    double sum = 0;
    for (const double log : logs) sum += std::exp(log - largest);
    log_likelihood += largest + std::log(sum);
    if (i == 7) CHECK(largest < -900);
  }
  CHECK(fit.log_likelihood == oracle::relative(log_likelihood, 1e-10));
  CHECK((fit.probability.rowwise().sum().array() - 1).abs().maxCoeff() < 1e-12);
}

TEST_CASE("mixture of Gaussians: wrong tables are one clear line") {
  CHECK_THROWS_WITH_AS(gaussian_mixture(Eigen::MatrixXd(1, 2)),
                       "mixture: the table is 1 x 2; at least two rows of one number are expected", Error);
  Eigen::MatrixXd holes = Eigen::MatrixXd::Zero(3, 1);
  holes(1, 0) = std::nan("");
  CHECK_THROWS_WITH_AS(gaussian_mixture(holes), "mixture: a number of the table is not finite", Error);
  CHECK_THROWS_WITH_AS(gaussian_mixture(Eigen::MatrixXd::Zero(3, 1), {.components = 4}),
                       doctest::Contains("at most one per row"), Error);
  CHECK_THROWS_WITH_AS(gaussian_mixture(Eigen::Vector3d(0, 1, 1e200)),
                       "mixture: the squares of the numbers overflow; divide them by a power of ten", Error);
}
