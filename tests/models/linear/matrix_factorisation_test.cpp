// Tables with gaps as products of two factors, against alternating least squares.
#include "models/linear/linear_models.h"

#include <doctest/doctest.h>

#include <Eigen/Dense>
#include <boost/random/mersenne_twister.hpp>
#include <boost/random/normal_distribution.hpp>
#include <boost/random/uniform_01.hpp>
#include <cmath>
#include <limits>

#include "engine/support/text.h"
#include "tests/oracles/relative.h"

using namespace dma;
using Eigen::MatrixXd;

namespace {

const double kMissing = std::numeric_limits<double>::quiet_NaN();

struct Problem {
  MatrixXd truth, values;

  Problem(Eigen::Index rows, Eigen::Index columns, Eigen::Index rank, double noise, double seen, std::uint64_t seed)
      : values(rows, columns) {
    boost::random::mt19937_64 random(seed);
    boost::random::normal_distribution<double> normal;
    boost::random::uniform_01<double> uniform;
    const auto draw = [&] { return normal(random); };
    const MatrixXd u = MatrixXd::NullaryExpr(rows, rank, draw), v = MatrixXd::NullaryExpr(columns, rank, draw);
    truth = u * v.transpose();
    for (Eigen::Index i = 0; i < rows; ++i)
      for (Eigen::Index j = 0; j < columns; ++j) {
        const double value = truth(i, j) + noise * normal(random);
        values(i, j) = uniform(random) < seen ? value : kMissing;
      }
  }

  // Root mean square error over missing entries.
  double error(const MatrixXd& filled) const {
    double sum = 0, count = 0;
    for (Eigen::Index e = 0; e < values.size(); ++e)
      if (std::isnan(values(e))) sum += std::pow(filled(e) - truth(e), 2), ++count;
    return std::sqrt(sum / count);
  }
};

// Each row of one factor by least squares given the other, in turns; the best of three starts by its fit.
MatrixXd alternating_least_squares(const MatrixXd& values, Eigen::Index rank, double ridge) {
  boost::random::mt19937_64 random(5);
  boost::random::normal_distribution<double> normal;
  MatrixXd best;
  double least = std::numeric_limits<double>::infinity();
  for (int start = 0; start < 3; ++start) {
    const auto draw = [&] { return normal(random); };
    MatrixXd u = MatrixXd::NullaryExpr(values.rows(), rank, draw), v = MatrixXd::NullaryExpr(values.cols(), rank, draw);
    const auto solve = [&](MatrixXd& own, const MatrixXd& other, const MatrixXd& table) {
      for (Eigen::Index i = 0; i < own.rows(); ++i) {
        MatrixXd squares = ridge * MatrixXd::Identity(rank, rank);
        Eigen::VectorXd products = Eigen::VectorXd::Zero(rank);
        for (Eigen::Index j = 0; j < other.rows(); ++j) {
          if (std::isnan(table(i, j))) continue;
          squares += other.row(j).transpose() * other.row(j);
          products += table(i, j) * other.row(j).transpose();
        }
        own.row(i) = squares.ldlt().solve(products).transpose();
      }
    };
    for (int round = 0; round < 100; ++round) solve(u, v, values), solve(v, u, values.transpose());
    const MatrixXd filled = u * v.transpose();
    double misfit = ridge * (u.squaredNorm() + v.squaredNorm());
    for (Eigen::Index e = 0; e < values.size(); ++e)
      if (!std::isnan(values(e))) misfit += std::pow(filled(e) - values(e), 2);
    if (misfit < least) least = misfit, best = filled;
  }
  return best;
}

}  // namespace

TEST_CASE("matrix factorisation: gaps are filled as well as by alternating least squares, with honest intervals") {
  double inside = 0, gaps = 0;
  for (const double noise : {0.1, 0.5})
    for (const std::uint64_t seed : {1u, 2u}) {
      CAPTURE(noise);
      CAPTURE(seed);
      const Problem problem(30, 20, 2, noise, 0.6, seed);
      const Factorisation found = factorise(problem.values, {.rank = 2});
      CHECK(found.report.converged());
      CHECK(found.settled);
      CHECK(problem.error(found.mean) <= 1.05 * problem.error(alternating_least_squares(problem.values, 2, 1e-9)));
      // ... and as least squares with known noise and factor size.
      CHECK(problem.error(found.mean) <=
            1.05 * problem.error(alternating_least_squares(problem.values, 2, noise * noise)));
      CHECK(std::sqrt(found.noise_variance) == oracle::relative(noise, 0.15));
      for (Eigen::Index e = 0; e < problem.truth.size(); ++e)
        if (std::isnan(problem.values(e)))
          inside += std::abs(found.mean(e) - problem.truth(e)) < 1.96 * found.sd(e), ++gaps;
    }
  CHECK(inside / gaps > 0.9);
}

TEST_CASE("matrix factorisation: its intervals are those of two linear regressions") {
  // Rank 1: a sum of squares over the other side makes each row, and each column, a regression.
  const Problem problem(200, 3, 1, 0.5, 1.0, 4);
  const Factorisation found = factorise(problem.values, {.rank = 1, .noise_variance = 0.25, .factor_variance = 1});
  CHECK(found.report.converged());
  const double of_row = 1 / (1 + found.columns.squaredNorm() / 0.25),
               of_column = 1 / (1 + found.rows.squaredNorm() / 0.25);
  for (const Eigen::Index i : {0, 50, 199})
    for (Eigen::Index j = 0; j < 3; ++j) {
      const double row = found.rows(i, 0), column = found.columns(j, 0);
      const double variance = column * column * of_row + row * row * of_column + of_row * of_column;
      CHECK(found.sd(i, j) == oracle::relative(std::sqrt(variance), 0.15));
    }
}

TEST_CASE("matrix factorisation: unobserved entries have the prior") {
  Problem problem(8, 6, 2, 0.2, 1.0, 9);
  problem.values.row(3).setConstant(kMissing);
  problem.values.col(5).setConstant(kMissing);
  const Factorisation found = factorise(problem.values, {.noise_variance = 0.04, .factor_variance = 1.5});
  CHECK(found.report.converged());
  // Neither row nor column is observed: the variance of a sum of two products.
  CHECK(std::abs(found.mean(3, 5)) < 1e-6);
  CHECK(found.sd(3, 5) == oracle::relative(1.5 * std::sqrt(2.0), 1e-3));
  CHECK(found.sd(3, 2) > 0.5 * 1.2 * found.columns.row(2).norm());
}

TEST_CASE("matrix factorisation: a table in other units is the same factorisation in other units") {
  const Problem problem(12, 9, 2, 0.2, 0.7, 5);
  const double unit = 1.0 / 1024;  // a power of two: scaling is exact
  const Factorisation found = factorise(problem.values, {.rank = 2}),
                      small = factorise(unit * problem.values, {.rank = 2});
  CHECK(small.noise_variance == oracle::relative(unit * unit * found.noise_variance, 1e-9));
  CHECK(small.factor_variance == oracle::relative(unit * found.factor_variance, 1e-9));
  CHECK((small.mean / unit - found.mean).cwiseAbs().maxCoeff() < 1e-9);
  CHECK((small.sd / unit - found.sd).cwiseAbs().maxCoeff() < 1e-9);
}

TEST_CASE("matrix factorisation: tables without structure, without noise, and of one number") {
  boost::random::mt19937_64 random(2);
  boost::random::normal_distribution<double> normal;
  const MatrixXd noise = MatrixXd::NullaryExpr(20, 15, [&] { return normal(random); });
  const Factorisation of_noise = factorise(noise, {.rank = 1});
  CHECK(of_noise.mean.allFinite());
  CHECK(of_noise.mean.squaredNorm() < 0.4 * noise.squaredNorm());
  const Problem exact(12, 10, 2, 0, 0.8, 3);
  const Factorisation of_exact = factorise(exact.values);
  CHECK(exact.error(of_exact.mean) < 1e-2);
  CHECK(of_exact.sd.allFinite());
  for (const double value : {0.0, 1e-9, 3e8}) {
    const Factorisation of_one = factorise(MatrixXd::Constant(1, 1, value), {.rank = 1});
    CHECK(std::isfinite(of_one.mean(0, 0)));
    CHECK(std::abs(of_one.mean(0, 0)) <= 1.01 * value + 1e-15);
  }
}

TEST_CASE("matrix factorisation: wrong input is refused") {
  const MatrixXd none = MatrixXd::Constant(2, 2, kMissing), one = MatrixXd::Ones(2, 2);
  CHECK_THROWS_WITH_AS(factorise(none), doctest::Contains("all 4 values are missing"), Error);
  CHECK_THROWS_WITH_AS(factorise(MatrixXd(0, 0)), doctest::Contains("all 0 values are missing"), Error);
  CHECK_THROWS_WITH_AS(factorise(one / 0.0), doctest::Contains("row 1, column 1 is inf"), Error);
  CHECK_THROWS_WITH_AS(factorise(one, {.rank = 0}), doctest::Contains("the rank is 0"), Error);
  CHECK_THROWS_WITH_AS(factorise(one, {.noise_variance = -1.0}), doctest::Contains("variance of -1"), Error);
  CHECK_THROWS_WITH_AS(factorise(one, {.starts = 0}), doctest::Contains("0 starts"), Error);
}
