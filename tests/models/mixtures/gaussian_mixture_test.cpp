#include "models/mixtures/gaussian_mixture.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <boost/random/mersenne_twister.hpp>
#include <boost/random/normal_distribution.hpp>
#include <cmath>
#include <numbers>
#include <vector>

#include "engine/support/text.h"
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

// Likelihood, evidence and shares of the components are those of the formula, in logarithms.
void check_formula(const Eigen::MatrixXd& x, const MixtureFit& fit) {
  const Eigen::Index components = fit.components(), columns = x.cols();
  double log_likelihood = 0;
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    std::vector<double> logs;
    for (Eigen::Index k = 0; k < components; ++k) {
      logs.push_back(std::log(fit.weight[k]));
      for (Eigen::Index j = 0; j < columns; ++j)
        logs.back() -= 0.5 * std::pow(x(i, j) - fit.mean(k, j), 2) / fit.variance(k, j) +
                       0.5 * std::log(2 * std::numbers::pi * fit.variance(k, j));
    }
    const double largest = std::ranges::max(logs);
    double sum = 0;
    for (const double log : logs) sum += std::exp(log - largest);
    log_likelihood += largest + std::log(sum);
    for (Eigen::Index k = 0; k < components; ++k)
      CHECK(std::abs(fit.probability(i, k) - std::exp(logs[static_cast<std::size_t>(k)] - largest) / sum) < 1e-9);
  }
  CHECK(fit.log_likelihood == oracle::relative(log_likelihood, 1e-10));
  const auto numbers = static_cast<double>(components * (1 + 2 * columns) - 1), rows = static_cast<double>(x.rows());
  CHECK(fit.log_evidence == oracle::relative(log_likelihood - 0.5 * numbers * std::log(rows), 1e-10));
}

}  // namespace

TEST_CASE("mixture of Gaussians: likelihood and shares are those of the formula, a thousand nats away too") {
  const Eigen::MatrixXd x = clusters(60, (Eigen::MatrixXd(2, 2) << 0, 0, 3, -2).finished(), 1, 4);
  const MixtureFit two = gaussian_mixture(x, {.components = 2});
  CHECK(two.converged);
  CHECK(two.weight[0] >= two.weight[1]);
  check_formula(x, two);
  // Two columns ascribe one row to two components; it is 2000 / 2 nats from the middle of each.
  Eigen::MatrixXd far = clusters(6000, (Eigen::MatrixXd(3, 2) << 0, 0, 0, 1, 1, 0).finished(), 1e-3, 3);
  far.row(7) << 1, 1;
  const MixtureFit three = gaussian_mixture(far, {.components = 3, .starts = 1});
  REQUIRE(three.components() == 3);
  check_formula(far, three);
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
