// Regressions of 500 rows and 20 inputs with non-Gaussian likelihoods, against expectation propagation written out with
// a full covariance, and sums over a grid.
#include <doctest/doctest.h>

#include <boost/random/mersenne_twister.hpp>
#include <boost/random/normal_distribution.hpp>
#include <boost/random/uniform_01.hpp>
#include <cmath>
#include <functional>
#include <string>

#include "engine/joint/joint.h"
#include "factors/standard_registry.h"
#include "tests/oracles/plain_matrix.h"

namespace {

using namespace dma;
using oracle::PlainMatrix;

constexpr std::size_t kRegressionRows = 500, kRegressionInputs = 20;
using LogLikelihood = std::function<double(double, double)>;

struct RegressionTable {
  PlainMatrix x = PlainMatrix(kRegressionRows, kRegressionInputs), y = PlainMatrix(kRegressionRows, 1);
};

RegressionTable regression_table(const std::function<double(double, double)>& draw, std::uint64_t seed) {
  boost::random::mt19937_64 random(seed);
  boost::random::normal_distribution<double> normal;
  RegressionTable table;
  PlainMatrix w(kRegressionInputs, 1);
  for (std::size_t j = 0; j < kRegressionInputs; ++j) w[j] = 0.3 * normal(random);
  for (std::size_t i = 0; i < kRegressionRows; ++i) {
    const double common = normal(random);  // inputs are correlated: a posterior without covariances would be wrong
    for (std::size_t j = 0; j < kRegressionInputs; ++j) table.x(i, j) = 0.7 * normal(random) + 0.5 * common;
    table.y[i] = draw(dot(table.x.row(i), w), boost::random::uniform_01<double>()(random));
  }
  return table;
}

// Sites exp(tau f - rho f^2 / 2) for every row, refreshed one after the other with the posterior of all weights kept.
struct DenseEp {
  PlainMatrix mean = PlainMatrix(kRegressionInputs, 1), covariance = PlainMatrix::identity(kRegressionInputs);

  DenseEp(const RegressionTable& table, const LogLikelihood& log_likelihood) {
    PlainMatrix tau(kRegressionRows, 1), rho = tau;
    double change = 1;
    for (int sweep = 0; sweep < 30 && change > 1e-7; ++sweep) {
      change = 0;
      for (std::size_t i = 0; i < kRegressionRows; ++i) {
        const PlainMatrix x = table.x.row(i).transpose(), seen = covariance * x;
        const double m = dot(x, mean), v = dot(x, seen), cavity_rho = 1 / v - rho[i],
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
        mean += (more_tau - more_rho * m) / (1 + more_rho * v) * seen;
        covariance -= (more_rho / (1 + more_rho * v)) * seen * seen.transpose();
        rho[i] = new_rho, tau[i] = new_tau;
      }
      // Removes the rounding of updates.
      covariance = (PlainMatrix::identity(kRegressionInputs) + weighted_square(table.x, rho)).inverse();
      mean = covariance * (table.x.transpose() * tau);
    }
    CHECK(change < 1e-6);
  }
};

void check_regression(const char* kind, const RegressionTable& table, const LogLikelihood& log_likelihood) {
  Graph g;
  const auto w = g.variable("w", kRegressionInputs), f = g.variable("f", kRegressionRows),
             y = g.observed("y", kRegressionRows);
  g.factor("gaussian_prior", {w}, {{"mean", 0.0}, {"variance", 1.0}});
  g.factor("linear", {column(w), f}, {{"A", table.x.values()}});
  g.factor(kind, {f, y});
  const Plan plan = compile(g, joint({.site_tolerance = 1e-6}), standard_registry());
  State state(plan);
  state.observe(y, table.y.values());
  CHECK(run(plan, state).converged());
  const JointPosterior posterior(state);
  const DenseEp dense(table, log_likelihood);
  PlainMatrix means = posterior.mean(w) - dense.mean, covariances = posterior.covariance(w, w) - dense.covariance;
  for (std::size_t i = 0; i < kRegressionInputs; ++i) {
    const double sd = std::sqrt(dense.covariance(i, i));
    means[i] /= sd;
    for (std::size_t j = 0; j < kRegressionInputs; ++j) covariances(i, j) /= sd, covariances(j, i) /= sd;
  }
  const double off = largest_size(means), scale = largest_size(covariances);
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
