// Regressions of 500 rows and 20 inputs with non-Gaussian likelihoods, against expectation propagation written out with
// a full covariance, and sums over a grid.
#include <boost/random/mersenne_twister.hpp>
#include <boost/random/normal_distribution.hpp>
#include <boost/random/uniform_01.hpp>

#include "tests/oracles/dense_ep.h"
#include "tests/oracles/solved.h"

namespace {

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

void check_regression(const char* kind, const RegressionTable& table, const LogLikelihood& log_likelihood) {
  Graph g;
  const auto w = g.variable("w", kRegressionInputs), f = g.variable("f", kRegressionRows),
             y = g.observed("y", kRegressionRows);
  g.factor("gaussian_prior", {w}, {{"mean", 0.0}, {"variance", 1.0}});
  g.factor("linear", {column(w), f}, {{"A", table.x.values()}});
  g.factor(kind, {f, y});
  const auto [plan, state, report] =
      oracle::solved(compile(g, joint({.site_tolerance = 1e-6}), standard_registry()), {{y, table.y.values()}});
  CHECK(report.converged());
  const JointPosterior posterior(state);
  const oracle::DenseEp dense(table.x, table.y, 1, log_likelihood);
  CHECK(posterior.log_evidence() == oracle::relative(dense.log_evidence, 1e-6));
  PlainMatrix means = posterior.mean(w) - dense.mean, covariances = posterior.covariance(w, w) - dense.covariance;
  for (std::size_t i = 0; i < kRegressionInputs; ++i) {
    const double sd = std::sqrt(dense.covariance(i, i));
    means[i] /= sd;
    for (std::size_t j = 0; j < kRegressionInputs; ++j) covariances(i, j) /= sd, covariances(j, i) /= sd;
  }
  const double off = largest_size(means), scale = largest_size(covariances);
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
    check_regression("poisson", regression_table(draw, 3),
                     [](double f, double y) { return y * f - std::exp(f) - std::lgamma(y + 1); });
  }
}
