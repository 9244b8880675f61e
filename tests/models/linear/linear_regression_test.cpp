#include "models/linear/linear_models.h"

#include <doctest/doctest.h>

#include <boost/random/mersenne_twister.hpp>
#include <boost/random/normal_distribution.hpp>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "engine/support/text.h"
#include "tests/oracles/plain_matrix.h"
#include "tests/oracles/relative.h"
#include "tests/oracles/scores.h"

namespace {

using namespace dma;
using oracle::PlainMatrix;

struct MadeTable {
  Eigen::MatrixXd x;
  Eigen::VectorXd y;
};

MadeTable made_table(Eigen::Index rows, Eigen::Index columns, double signal, std::uint64_t seed) {
  boost::random::mt19937_64 generator(seed);
  boost::random::normal_distribution<double> normal;
  const auto draw = [&](auto...) { return normal(generator); };
  const Eigen::MatrixXd drawn = oracle::filled(rows, columns, draw), weights = oracle::filled(columns, draw);
  const Eigen::MatrixXd x = oracle::filled(rows, columns, [&](Eigen::Index n, Eigen::Index j) {
    return j == 1 ? 3 + 0.8 * drawn(n, 0) + 0.3 * drawn(n, 1) : drawn(n, j);  // correlated, and around 3
  });
  return {x, oracle::filled(rows, [&](Eigen::Index n) {
            double sum = 0;
            for (Eigen::Index j = 0; j < columns; ++j) sum += x(n, j) * weights(j);
            return 10 + signal * sum + normal(generator);
          })};
}

double variance_of(const Eigen::MatrixXd& y) {
  const double mean = oracle::mean_of(y);
  return std::pow(oracle::rms(oracle::filled(y.rows(), [&](Eigen::Index n) { return y(n) - mean; })), 2);
}

// The posterior under one pair of variances, by dense matrices over the rows.
struct DenseRegression {
  double log_evidence = 0;
  PlainMatrix weights, covariance;

  DenseRegression(const MadeTable& table, double noise, double prior) {
    const PlainMatrix x = table.x, y = table.y;
    const std::size_t n = x.rows(), p = x.columns();
    // The model's own priors, in the units of the table: weights of standardised inputs, an intercept at the centre.
    const double centre = oracle::mean_of(table.y), y_variance = variance_of(table.y);
    PlainMatrix rows(n, p + 1, 1), k(p + 1, p + 1), rest = y, back = PlainMatrix::identity(p + 1);
    for (std::size_t j = 0; j < p; ++j) {
      const Eigen::MatrixXd column = table.x.col(static_cast<Eigen::Index>(j));
      const double middle = oracle::mean_of(column);
      for (std::size_t i = 0; i < n; ++i) rows(i, j) = x(i, j) - middle;
      k(j, j) = prior * y_variance / variance_of(column);
      back(p, j) = -middle;
    }
    k(p, p) = 1e4 * y_variance;
    for (std::size_t i = 0; i < n; ++i) rest[i] -= centre;
    const PlainMatrix across = k * rows.transpose(), total = rows * across + noise * PlainMatrix::identity(n),
                      pulls = total.solve(rest);
    log_evidence = -0.5 * dot(rest, pulls) - 0.5 * total.log_determinant() -
                   0.5 * static_cast<double>(n) * std::log(2 * std::numbers::pi);
    weights = back * (across * pulls);
    weights[p] += centre;
    covariance = back * (k - across * total.solve(across.transpose())) * back.transpose();
  }
};

}  // namespace

TEST_CASE("linear regression: under given variances it is the dense posterior") {
  const MadeTable table = made_table(30, 4, 1, 3);
  const double y_variance = variance_of(table.y);
  const DenseRegression dense(table, 0.7, 0.4);
  const LinearFit fit = linear_regression(table.x, table.y, {.noise_variance = 0.7, .prior_variance = 0.4});
  CHECK(fit.log_evidence == oracle::relative(dense.log_evidence, 1e-9));
  CHECK((fit.weights - dense.weights).norm() < 1e-9 * dense.weights.norm());
  CHECK((fit.covariance - dense.covariance).norm() < 1e-9 * dense.covariance.norm());
  CHECK(fit.noise_variance == oracle::relative(0.7, 1e-12));
  CHECK(y_variance > 0);
}

TEST_CASE("linear regression: unknown noise and prior scale, by a sum over both") {
  const MadeTable table = made_table(20, 3, 0.7, 5);
  const double y_variance = variance_of(table.y);
  double total = 0, top = -1e300, noise_mean = 0;
  PlainMatrix mean(4, 1), squares(4, 4);
  struct Summand {
    double log_noise, log_weight;
    DenseRegression dense;
  };
  std::vector<Summand> summands;
  for (double log_noise = -4; log_noise < 3; log_noise += 0.1)
    for (double log_prior = -10; log_prior < std::log(1e6); log_prior += 0.2) {
      DenseRegression dense(table, std::exp(log_noise) * y_variance, std::exp(log_prior));
      const double log_weight = dense.log_evidence + 0.5 * (log_noise + log_prior);
      top = std::max(top, log_weight);
      summands.push_back({log_noise, log_weight, std::move(dense)});
    }
  for (const auto& [log_noise, log_weight, dense] : summands) {
    const double weight = std::exp(log_weight - top);
    total += weight, mean += weight * dense.weights, noise_mean += weight * std::exp(log_noise) * y_variance;
    squares += weight * (dense.covariance + dense.weights * dense.weights.transpose());
  }
  mean = 1 / total * mean, noise_mean /= total;
  const PlainMatrix covariance = 1 / total * squares - mean * mean.transpose();
  const LinearFit fit = linear_regression(table.x, table.y);
  CHECK(fit.converged);
  for (std::size_t j = 0; j < 4; ++j) {
    const auto at = static_cast<Eigen::Index>(j);
    const double sd = std::sqrt(covariance(j, j));
    CHECK(std::abs(fit.weights[at] - mean[j]) < 0.05 * sd);
    CHECK(std::sqrt(fit.covariance(at, at)) == oracle::relative(sd, 0.05));
  }
  CHECK(fit.noise_variance == oracle::relative(noise_mean, 0.05));
}

TEST_CASE("linear regression: honest on few rows of noise") {
  int inside = 0, count = 0;
  double error = 0, of_the_mean = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    MadeTable table = made_table(60, 10, 0, seed);
    const Eigen::MatrixXd x = table.x.bottomRows(40);
    const Eigen::VectorXd y = table.y.tail(40);
    const double centre = table.y.head(20).mean();
    const auto predicted = linear_regression(table.x.topRows(20), table.y.head(20)).predict(x);
    for (Eigen::Index i = 0; i < y.size(); ++i) {
      inside += std::abs(y[i] - predicted.mean[i]) < 1.96 * predicted.sd[i], ++count;
      error += std::pow(y[i] - predicted.mean[i], 2), of_the_mean += std::pow(y[i] - centre, 2);
    }
  }
  MESSAGE("coverage " << static_cast<double>(inside) / count << ", RMSE " << std::sqrt(error / of_the_mean)
                      << " of the mean's");
  CHECK(static_cast<double>(inside) / count > 0.92);
  CHECK(std::sqrt(error / of_the_mean) < 1.15);
}

TEST_CASE("linear regression: wrong tables are one clear line") {
  const MadeTable table = made_table(10, 2, 1, 1);
  CHECK_THROWS_WITH_AS(linear_regression(table.x, table.y.head(4)),
                       "linear regression: x has 10 rows and y 4; one for each observation is expected in both", Error);
  CHECK_THROWS_WITH_AS(linear_regression(table.x.topRows(2), table.y.head(2)), doctest::Contains("at least 3"), Error);
  Eigen::MatrixXd holes = table.x;
  holes(3, 1) = std::nan("");
  CHECK_THROWS_WITH_AS(linear_regression(holes, table.y), "linear regression: a number of x is not finite", Error);
  CHECK_THROWS_WITH_AS(linear_regression(table.x, table.y, {.noise_variance = 0}), doctest::Contains("above 0"), Error);
  CHECK_THROWS_WITH_AS(linear_regression(table.x, table.y).predict(table.x.leftCols(1)),
                       doctest::Contains("2 are expected"), Error);
  const LinearFit flat = linear_regression(Eigen::MatrixXd::Constant(5, 1, 2), Eigen::VectorXd::LinSpaced(5, 0, 4));
  CHECK(flat.predict(Eigen::MatrixXd::Constant(1, 1, 2)).mean[0] == oracle::relative(2, 1e-3));
}
