// The likelihoods defined by log densities: logistic, poisson and other counts, weibull, student_t_noise. Also classes
// whose weights differ by more than the range of a double.
#include <doctest/doctest.h>

#include <map>

#include "engine/kinds/evaluate.h"
#include "factors/authoring/normal.h"
#include "factors/likelihoods/classes.h"
#include "factors/likelihoods/counts.h"
#include "factors/standard_registry.h"
#include "tests/oracles/distributions.h"
#include "tests/oracles/high_precision.h"
#include "tests/oracles/quadrature.h"
#include "tests/oracles/relative.h"

namespace {

using namespace dma;
using oracle::Real;

}  // namespace

TEST_CASE("poisson, binomial: a number that is no count has no message") {
  const Registry registry = standard_registry();
  const Gaussian x = Gaussian::from_moments(0, 1);
  for (const double no_count : {-1.0, 2.5, 8.0}) {
    CHECK_FALSE(evaluate(registry.kind("binomial"), "ep", 0, {{x}, {Gaussian::point(no_count)}}, std::vector{7.0}));
    if (no_count != 8)
      CHECK_FALSE(evaluate(registry.kind("poisson"), "ep", 0, {{x}, {Gaussian::point(no_count)}}, std::vector{1.0}));
  }
}

TEST_CASE("poisson_draw: a gamma rate gains what is counted, and the evidence is the integral over it") {
  const Registry registry = standard_registry();
  const Kind& kind = registry.kind("poisson_draw");
  constexpr double kShape = 2.5, kRate = 1.3, kExposure = 0.7;
  for (const double y : {0.0, 3.0, 40.0}) {
    const std::vector<double> parameters{kExposure};
    const Natural rate{kShape - 1, kRate};
    const auto message = evaluate(kind, "ep", 0, {{rate}, {Gaussian::point(y)}}, parameters);
    REQUIRE(message);
    CHECK((*message)[0].tau == y);
    CHECK((*message)[0].rho == kExposure);
    double expected = 0;
    constexpr double kStep = 0.02;  // step in log r: the trapezoidal rule converges exponentially
    for (double u = -20; u < 5.5; u += kStep) {
      const double r = std::exp(u);
      expected += kStep * std::exp(kShape * u - kRate * r + kShape * std::log(kRate) - std::lgamma(kShape)) *
                  oracle::poisson(kExposure * r, y);
    }
    const std::vector<Natural> arrivals{rate, Gaussian::point(y)};
    CHECK(kind.log_integral()(arrivals, parameters) == oracle::relative(std::log(expected), 1e-10));
  }
}

TEST_CASE("beta_binomial: a binomial whose probability is integrated over") {
  const Registry registry = standard_registry();
  constexpr double kTrials = 5, kConcentration = 3;
  for (const double t : {-2.0, 0.0, 1.3})
    for (const double y : {0.0, 2.0, 5.0}) {
      const double m = 1 / (1 + std::exp(-t)), a = kConcentration * m, b = kConcentration * (1 - m);
      double expected = 0;  // over the log odds u of p, where the integrand is smooth and vanishes at both ends
      constexpr double kStep = 0.1;
      const double log_beta = std::lgamma(a) + std::lgamma(b) - std::lgamma(a + b);
      for (double u = -200; u < 200; u += kStep) {
        const double p = 1 / (1 + std::exp(-u)), q = 1 / (1 + std::exp(u));
        expected += kStep * oracle::binomial(kTrials, p, y) * std::exp(a * std::log(p) + b * std::log(q) - log_beta);
      }
      const std::vector<double> parameters{kTrials, kConcentration};
      const std::vector<Natural> known{Gaussian::point(t), Gaussian::point(y)};
      CHECK(registry.kind("beta_binomial").log_integral()(known, parameters) ==
            oracle::relative(std::log(expected), 1e-8));
    }
}

TEST_CASE("poisson, binomial, negative_binomial, beta_binomial: as in 60 digits, from no events to very many") {
  std::map<Real, Real> known;  // most arguments repeat
  const auto log_gamma = [&](const Real& x) {
    const auto [at, is_new] = known.try_emplace(x);
    if (is_new) at->second = oracle::log_gamma(x);
    return at->second;
  };
  const auto log_factorial = [&](const Real& x) { return log_gamma(x + 1); };
  const auto check = [](double found, const Real& expected, double x, double y, double p1, double p2) {
    INFO("x ", x, ", y ", y, ", parameters ", p1, " and ", p2);
    const double value = expected.convert_to<double>();
    CHECK(std::abs(found - value) <= 1e-12 * (1 + std::abs(value)) + 1e-14 * std::sqrt(1 + y) * (1 + std::abs(x)));
  };
  for (const double x : {-800.0, -30.0, -2.5, 0.0, 0.3, 12.0, 27.0})
    for (const double y : {0.0, 1.0, 2.0, 19.0, 1000.0, 1e6, 1e12})
      for (const double a : {1e-6, 0.4, 30.0, 1e9, 1e15}) {
        const Real mean = Real(a) * exp(Real(x)), r = 2.5 * Real(a), odds = mean / r;
        check(Poisson::log_density(x, y, std::vector{a}), Real(y) * log(mean) - mean - log_factorial(y), x, y, a, 0);
        check(NegativeBinomial::log_density(x, y, std::vector{2.5 * a, a}),
              log_gamma(y + r) - log_gamma(r) - log_factorial(y) + y * log(odds) - (y + r) * log1p(odds), x, y, a, 0);
        for (const double more : {0.0, 1.0, 50.0, 1e7}) {
          const Real n = Real(y) + more, p = 1 / (1 + exp(Real(-x))), q = 1 / (1 + exp(Real(x)));
          if (n == 0) continue;
          const Real choose = log_factorial(n) - log_factorial(y) - log_factorial(more);
          check(Binomial::log_density(x, y, std::vector{y + more}), choose + y * log(p) + more * log(q), x, y, more, 0);
          const auto log_beta = [&](const Real& u, const Real& v) {
            return Real(log_gamma(u) + log_gamma(v) - log_gamma(u + v));
          };
          check(BetaBinomial::log_density(x, y, std::vector{y + more, a}),
                choose + log_beta(y + a * p, more + a * q) - log_beta(a * p, a * q), x, y, more, a);
        }
      }
}

TEST_CASE("student_t_noise: the density of many degrees of freedom, as in 60 digits") {
  for (const double d : {0.01, 1.0, 7.5, 1e3, 9e5, 1.1e6, 1e9, 1e15}) {
    CAPTURE(d);
    const Real z = Real(d) / 2, expected = oracle::log_gamma(z + 0.5) - oracle::log_gamma(z) -
                                           log(oracle::pi() * d) / 2 - log(Real(3)) -
                                           (Real(d) + 1) / 2 * log1p(Real(0.25) / 9 / d);
    const std::vector<double> at{0.5, 1.0}, parameters{3.0, d};
    const double found = standard_registry().kind("student_t_noise").log_density()(at, parameters);
    CHECK(found == oracle::relative(expected.convert_to<double>(), 1e-13));
  }
}

TEST_CASE("student_t_noise: with many degrees of freedom it is Gaussian noise, in both directions") {
  const Registry registry = standard_registry();
  const Kind& kind = registry.kind("student_t_noise");
  const Gaussian x = Gaussian::from_moments(1, 2), y = Gaussian::from_moments(-0.5, 3);
  const std::vector<double> parameters{0.8, 1e7};
  const auto to_x = evaluate(kind, "ep", 0, {{x}, {y}}, parameters),
             to_y = evaluate(kind, "ep", 1, {{x}, {y}}, parameters);
  REQUIRE(to_x);
  REQUIRE(to_y);
  CHECK(Gaussian((*to_x)[0]).mean() == oracle::relative(-0.5, 1e-4));
  CHECK(Gaussian((*to_x)[0]).variance() == oracle::relative(3 + 0.64, 1e-4));
  CHECK(Gaussian((*to_y)[0]).mean() == oracle::relative(1, 1e-4));
  CHECK(Gaussian((*to_y)[0]).variance() == oracle::relative(2 + 0.64, 1e-4));
}

TEST_CASE("argmax: classes that differ by more than a double can hold have a finite evidence") {
  // Score 1 is 100 below score 0 with a variance of 1 together: about -5000 nats.
  const std::vector<Gaussian> scores = {Gaussian::from_moments(100, 0.25), Gaussian::from_moments(0, 0.25)};
  const double t = -100 / std::sqrt(0.5 + 0.5), tail = normal::log_distribution(t);
  CHECK(tail < -5000);
  const auto evidence_of = [&](const Natural& no, const Natural& yes) {
    const std::vector<Natural> arrivals = {scores[0], scores[1], no, yes};
    return Argmax::log_integral(arrivals, {0.25});
  };
  CHECK(evidence_of({0, kInfinity}, {1, kInfinity}) == oracle::relative(tail, 1e-12));
  CHECK(evidence_of({-6000, 0}, {0, 0}) == oracle::relative(tail, 1e-12));
  CHECK(evidence_of({-4000, 0}, {0, 0}) == oracle::relative(-4000, 1e-12));
}
