#include "models/linear/linear_regression.h"

#include <doctest/doctest.h>

#include <Eigen/Cholesky>
#include <boost/random/mersenne_twister.hpp>
#include <boost/random/normal_distribution.hpp>
#include <cmath>
#include <numbers>

#include "engine/support/error.h"

namespace {

using namespace dma;

struct MadeTable {
  Eigen::MatrixXd x;
  Eigen::VectorXd y;
};

MadeTable made_table(Eigen::Index rows, Eigen::Index columns, double signal, std::uint64_t seed) {
  boost::random::mt19937_64 generator(seed);
  boost::random::normal_distribution<double> normal;
  MadeTable table{Eigen::MatrixXd(rows, columns), Eigen::VectorXd(rows)};
  const auto draw = [&] { return normal(generator); };
  table.x = Eigen::MatrixXd::NullaryExpr(rows, columns, draw);
  if (columns > 1)
    table.x.col(1) = 3 + 0.8 * table.x.col(0).array() + 0.3 * table.x.col(1).array();  // correlated, elsewhere
  const Eigen::VectorXd weights = Eigen::VectorXd::NullaryExpr(columns, draw);
  table.y = 10 + (signal * (table.x * weights)).array() + Eigen::VectorXd::NullaryExpr(rows, draw).array();
  return table;
}

// The posterior under one pair of variances, all in dense matrices over the rows.
struct DenseRegression {
  double log_evidence = 0;
  Eigen::VectorXd weights;
  Eigen::MatrixXd covariance;

  DenseRegression(const MadeTable& table, double noise, double prior) {
    const Eigen::Index n = table.x.rows(), p = table.x.cols();
    // The model's own priors, in the units of the table: weights of standardised inputs, an intercept at the centre.
    const double centre = table.y.mean(), y_variance = (table.y.array() - centre).square().mean();
    const Eigen::RowVectorXd middle = table.x.colwise().mean();
    const Eigen::MatrixXd moved = table.x.rowwise() - middle;
    Eigen::MatrixXd rows(n, p + 1), k = Eigen::MatrixXd::Zero(p + 1, p + 1);
    rows << moved, Eigen::VectorXd::Ones(n);
    for (Eigen::Index j = 0; j < p; ++j) k(j, j) = prior * y_variance / moved.col(j).array().square().mean();
    k(p, p) = 1e4 * y_variance;
    const Eigen::VectorXd rest = table.y.array() - centre;
    const Eigen::MatrixXd total = rows * k * rows.transpose() + noise * Eigen::MatrixXd::Identity(n, n);
    const Eigen::LLT<Eigen::MatrixXd> root(total);
    log_evidence = -0.5 * rest.dot(root.solve(rest)) - root.matrixLLT().diagonal().array().log().sum() -
                   0.5 * static_cast<double>(n) * std::log(2 * std::numbers::pi);
    weights = k * rows.transpose() * root.solve(rest);
    covariance = k - k * rows.transpose() * root.solve(rows * k);
    Eigen::MatrixXd back = Eigen::MatrixXd::Identity(p + 1, p + 1);
    back.row(p).head(p) = -middle;
    weights = back * weights;
    weights[p] += centre;
    covariance = back * covariance * back.transpose();
  }
};

}  // namespace

TEST_CASE("linear regression: under given variances it is the dense posterior") {
  const MadeTable table = made_table(30, 4, 1, 3);
  const double y_variance = (table.y.array() - table.y.mean()).square().mean();
  const DenseRegression dense(table, 0.7, 0.4);
  const LinearFit fit = linear_regression(table.x, table.y, {.noise_variance = 0.7, .prior_variance = 0.4});
  CHECK(fit.log_evidence == doctest::Approx(dense.log_evidence).epsilon(1e-9));
  CHECK((fit.weights - dense.weights).norm() < 1e-9 * dense.weights.norm());
  CHECK((fit.covariance - dense.covariance).norm() < 1e-9 * dense.covariance.norm());
  CHECK(fit.noise_variance == doctest::Approx(0.7).epsilon(1e-12));
  CHECK(y_variance > 0);
}

TEST_CASE("linear regression: unknown noise and prior scale, by a sum over both") {
  const MadeTable table = made_table(20, 3, 0.7, 5);
  const double y_variance = (table.y.array() - table.y.mean()).square().mean();
  double total = 0, top = -1e300, noise_mean = 0;
  Eigen::VectorXd mean = Eigen::VectorXd::Zero(4);
  Eigen::MatrixXd squares = Eigen::MatrixXd::Zero(4, 4);
  for (const bool look : {true, false})  // for the largest, then for the sums
    for (double log_noise = -4; log_noise < 3; log_noise += 0.1)
      for (double log_prior = -10; log_prior < std::log(1e6); log_prior += 0.2) {
        const DenseRegression dense(table, std::exp(log_noise) * y_variance, std::exp(log_prior));
        const double log_weight = dense.log_evidence + 0.5 * (log_noise + log_prior);
        if (look) {
          top = std::max(top, log_weight);
          continue;
        }
        const double weight = std::exp(log_weight - top);
        total += weight, mean += weight * dense.weights, noise_mean += weight * std::exp(log_noise) * y_variance;
        squares += weight * (dense.covariance + dense.weights * dense.weights.transpose());
      }
  mean /= total, noise_mean /= total;
  const Eigen::MatrixXd covariance = squares / total - mean * mean.transpose();
  const LinearFit fit = linear_regression(table.x, table.y);
  CHECK(fit.converged);
  for (Eigen::Index j = 0; j < 4; ++j) {
    const double sd = std::sqrt(covariance(j, j));
    CHECK(std::abs(fit.weights[j] - mean[j]) < 0.05 * sd);
    CHECK(std::sqrt(fit.covariance(j, j)) == doctest::Approx(sd).epsilon(0.05));
  }
  CHECK(fit.noise_variance == doctest::Approx(noise_mean).epsilon(0.05));
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
  CHECK(flat.predict(Eigen::MatrixXd::Constant(1, 1, 2)).mean[0] == doctest::Approx(2).epsilon(1e-3));
}
