// Regressions of 500 rows and 20 inputs with likelihoods that are not Gaussian, beside expectation propagation written
// out with a full covariance and sums over a grid.
#include <doctest/doctest.h>

#include <Eigen/Cholesky>
#include <boost/random/mersenne_twister.hpp>
#include <boost/random/normal_distribution.hpp>
#include <boost/random/uniform_01.hpp>
#include <cmath>
#include <functional>
#include <string>

#include "engine/joint/joint.h"
#include "factors/standard_registry.h"

namespace {

using namespace dma;

constexpr Eigen::Index kRegressionRows = 500, kRegressionInputs = 20;
using LogLikelihood = std::function<double(double, double)>;

struct RegressionTable {
  Eigen::MatrixXd x = Eigen::MatrixXd(kRegressionRows, kRegressionInputs);
  Eigen::VectorXd y = Eigen::VectorXd(kRegressionRows);
};

RegressionTable regression_table(const std::function<double(double, double)>& draw, std::uint64_t seed) {
  boost::random::mt19937_64 random(seed);
  boost::random::normal_distribution<double> normal;
  RegressionTable table;
  const Eigen::VectorXd w = 0.3 * Eigen::VectorXd::NullaryExpr(kRegressionInputs, [&] { return normal(random); });
  for (Eigen::Index i = 0; i < kRegressionRows; ++i) {
    const double common = normal(random);  // inputs are correlated: a posterior without covariances would be wrong
    for (Eigen::Index j = 0; j < kRegressionInputs; ++j) table.x(i, j) = 0.7 * normal(random) + 0.5 * common;
    table.y[i] = draw(table.x.row(i).dot(w), boost::random::uniform_01<double>()(random));
  }
  return table;
}

// Sites exp(tau f - rho f^2 / 2) for every row, refreshed one after the other with the posterior of all weights kept.
struct DenseEp {
  Eigen::VectorXd mean;
  Eigen::MatrixXd covariance;

  DenseEp(const RegressionTable& table, const LogLikelihood& log_likelihood)
      : mean(Eigen::VectorXd::Zero(kRegressionInputs)),
        covariance(Eigen::MatrixXd::Identity(kRegressionInputs, kRegressionInputs)) {
    Eigen::VectorXd tau = Eigen::VectorXd::Zero(kRegressionRows), rho = tau;
    double change = 1;
    for (int sweep = 0; sweep < 30 && change > 1e-7; ++sweep) {
      change = 0;
      for (Eigen::Index i = 0; i < kRegressionRows; ++i) {
        const Eigen::VectorXd x = table.x.row(i).transpose(), seen = covariance * x;
        const double m = x.dot(mean), v = x.dot(seen), cavity_rho = 1 / v - rho[i],
                     cavity_mean = (m / v - tau[i]) / cavity_rho;
        double mass = 0, first = 0, second = 0;
        for (double z = -9; z <= 9; z += 0.05) {
          const double f = cavity_mean + z / std::sqrt(cavity_rho),
                       p = std::exp(-0.5 * z * z + log_likelihood(f, table.y[i]));
          mass += p, first += p * f, second += p * f * f;
        }
        const double tilted = first / mass, variance = second / mass - tilted * tilted;
        const double new_rho = 1 / variance - cavity_rho, new_tau = tilted / variance - cavity_rho * cavity_mean;
        const double more_rho = new_rho - rho[i], more_tau = new_tau - tau[i];
        change = std::max({change, std::abs(more_rho), std::abs(more_tau)});
        mean += seen * ((more_tau - more_rho * m) / (1 + more_rho * v));
        covariance -= (more_rho / (1 + more_rho * v)) * seen * seen.transpose();
        rho[i] = new_rho, tau[i] = new_tau;
      }
      const Eigen::MatrixXd precision =
          Eigen::MatrixXd::Identity(kRegressionInputs, kRegressionInputs) +
          table.x.transpose() * rho.asDiagonal() * table.x;  // without what updates rounded
      const Eigen::LLT<Eigen::MatrixXd> root(precision);
      mean = root.solve(table.x.transpose() * tau);
      covariance = root.solve(Eigen::MatrixXd::Identity(kRegressionInputs, kRegressionInputs));
    }
    CHECK(change < 1e-6);
  }
};

void check_regression(const char* kind, const RegressionTable& table, const LogLikelihood& log_likelihood) {
  const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> rows = table.x;
  Graph g;
  const auto w = g.variable("w", kRegressionInputs), f = g.variable("f", kRegressionRows),
             y = g.observed("y", kRegressionRows);
  g.factor("gaussian_prior", {w}, {{"mean", 0.0}, {"variance", 1.0}});
  g.factor("linear", {column(w), f}, {{"A", std::vector<double>(rows.data(), rows.data() + rows.size())}});
  g.factor(kind, {f, y});
  const Plan plan = compile(g, joint({.site_tolerance = 1e-6}), standard_registry());
  State state(plan);
  state.observe(y, std::span(table.y.data(), static_cast<std::size_t>(table.y.size())));
  CHECK(run(plan, state).converged());
  const JointPosterior posterior(state);
  const DenseEp dense(table, log_likelihood);
  const Eigen::VectorXd sd = dense.covariance.diagonal().cwiseSqrt();
  const Eigen::MatrixXd covariance = posterior.covariance(w, w);
  const double off = ((posterior.mean(w) - dense.mean).array() / sd.array()).abs().maxCoeff();
  const double scale = ((covariance - dense.covariance).array() / (sd * sd.transpose()).array()).abs().maxCoeff();
  MESSAGE(std::string(kind) << ": means off by " << off << " sd, covariances by " << scale);
  CHECK(off < 1e-6);
  CHECK(scale < 1e-6);
}

}  // namespace

TEST_CASE("regressions: probit, logistic and Poisson of 500 rows and 20 inputs equal full-covariance EP") {
  SUBCASE("probit") {
    check_regression(
        "probit",
        regression_table([](double f, double u) { return u < 0.5 * std::erfc(-f / std::sqrt(2.0)) ? 1.0 : 0.0; }, 1),
        [](double f, double y) { return std::log(0.5 * std::erfc((y > 0 ? -f : f) / std::sqrt(2.0))); });
  }
  SUBCASE("logistic") {
    check_regression("logistic",
                     regression_table([](double f, double u) { return u < 1 / (1 + std::exp(-f)) ? 1.0 : 0.0; }, 2),
                     [](double f, double y) { return -std::log1p(std::exp(y > 0 ? -f : f)); });
  }
  SUBCASE("poisson") {
    const auto draw = [](double f, double u) {  // the count at which the distribution function passes u
      double count = 0, p = std::exp(-std::exp(f));
      for (double sum = p; sum < u && count < 200; sum += p) p *= std::exp(f) / ++count;
      return count;
    };
    check_regression("poisson", regression_table(draw, 3), [](double f, double y) { return y * f - std::exp(f); });
  }
}
