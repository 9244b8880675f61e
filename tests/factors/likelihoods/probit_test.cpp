#include "factors/likelihoods/probit.h"

#include <doctest/doctest.h>

#include "factors/authoring/normal.h"
#include "tests/oracles/quadrature.h"
#include "tests/oracles/relative.h"

namespace {

using namespace dma;

// Moments of x under N(x; in) f(x), by quadrature.
template <class F>
Gaussian matched(const F& f, const Gaussian& in) {
  const double mass = oracle::expectation(f, in, 0.0);
  const double mean = oracle::expectation([&](double x) { return x * f(x); }, in, 0.0) / mass;
  const double variance = oracle::expectation([&](double x) { return (x - mean) * (x - mean) * f(x); }, in, 0.0) / mass;
  return Gaussian::from_moments(mean, variance);
}

const std::vector<Gaussian> kProbitArrivals = {Gaussian::from_moments(0, 1), Gaussian::from_moments(1.5, 0.3),
                                               Gaussian::from_moments(-2, 4), Gaussian::from_moments(-6, 2),
                                               Gaussian::from_moments(5, 0.5)};

}  // namespace

TEST_CASE("probit: the message to x makes the marginal the exact one's moments") {
  for (const Gaussian& x : kProbitArrivals)
    for (const double y : {-1.0, 0.0, 1.0}) {
      const Gaussian marginal = Probit::to_x(x, Gaussian::point(y)) * x;
      const Gaussian exact = matched([&](double t) { return normal::distribution(y > 0 ? t : -t); }, x);
      CHECK(marginal.mean() == oracle::relative(exact.mean(), 1e-10));
      CHECK(marginal.variance() == oracle::relative(exact.variance(), 1e-10));
    }
}

TEST_CASE("probit: uncertain outcomes mix, in both directions") {
  const Gaussian y = Gaussian::from_moments(0.4, 0.5), x = Gaussian::from_moments(-0.8, 2);
  const double p = normal::distribution(0.4 / std::sqrt(0.5));
  const Gaussian of_x = Probit::to_x(x, y) * x;
  const Gaussian exact_x =
      matched([&](double t) { return p * normal::distribution(t) + (1 - p) * normal::distribution(-t); }, x);
  CHECK(of_x.mean() == oracle::relative(exact_x.mean(), 1e-10));
  // The exact marginal is wider than the arriving message: no proper message gives its variance, and only the mean is
  // kept.
  CHECK(exact_x.variance() > 2);
  CHECK(of_x.variance() == oracle::relative(2, 1e-5));
  CHECK(Probit::to_x(x, y).replaced);
  const Gaussian sure = Gaussian::from_moments(0.9, 0.1), far = Gaussian::from_moments(-1, 0.5);
  const double s = normal::distribution(0.9 / std::sqrt(0.1));
  const Gaussian exact_far =
      matched([&](double t) { return s * normal::distribution(t) + (1 - s) * normal::distribution(-t); }, far);
  CHECK((Probit::to_x(far, sure) * far).variance() == oracle::relative(exact_far.variance(), 1e-9));
  const double q = Probit::probability(x);
  const Gaussian of_y = Probit::to_y(x, y) * y, exact_y = matched([&](double t) { return t > 0 ? q : 1 - q; }, y);
  CHECK(of_y.mean() == oracle::relative(exact_y.mean(), 1e-10));
  CHECK(exact_y.variance() > 0.5);
  CHECK(of_y.variance() == oracle::relative(0.5, 1e-5));
  CHECK(Probit::to_x(x, Gaussian::uniform()).is_uniform());
  CHECK(Probit::to_x(Gaussian::uniform(), Gaussian::point(1)).is_uniform());
  CHECK(Probit::to_y(x, Gaussian::point(1)).is_uniform());
}

TEST_CASE("probit: the integral and the probability are those of quadrature") {
  for (const Gaussian& x : kProbitArrivals) {
    const double up = oracle::expectation([](double t) { return normal::distribution(t); }, x);
    CHECK(Probit::probability(x) == oracle::relative(up, 1e-11));
    CHECK(Probit::log_integral(x, Gaussian::point(1)) == oracle::relative(std::log(up), 1e-10));
    CHECK(Probit::log_integral(x, Gaussian::point(0)) == oracle::relative(std::log1p(-up), 1e-9));
  }
}

TEST_CASE("probit: far in the wrong tail the message stays proper and tends to the likelihood's own curvature") {
  for (const double m : {-30.0, -1e3, -1e6, -1e9}) {
    const Gaussian message = Probit::to_x(Gaussian::from_moments(m, 1e-6), Gaussian::point(1));
    CHECK(message.is_proper());
    // log Phi(x) ~ -x^2 / 2: N(0, 1).
    CHECK(message.rho == oracle::relative(1, 3e-3));
    CHECK(std::isfinite(Probit::log_density(m, 1)));
    CHECK(Probit::log_density(m, 1) ==
          oracle::relative(-0.5 * m * m - std::log(-m * std::sqrt(2 * std::numbers::pi)), 1e-3));
  }
  for (const double m : {10.0, 30.0}) CHECK(is_valid(Probit::to_x(Gaussian::from_moments(m, 1), Gaussian::point(1))));
}

TEST_CASE("probit: an outcome known against all odds informs y as the integral does") {
  const Gaussian y = Gaussian::from_moments(7, 1);
  const double x = -9;
  const double up = normal::distribution(x), down = normal::distribution(-x);
  const Gaussian exact = matched([&](double t) { return t > 0 ? up : down; }, y),
                 found = Probit::to_y(Gaussian::point(x), y) * y;
  CHECK(found.mean() == oracle::relative(exact.mean(), 1e-9));
  CHECK(found.variance() == oracle::relative(exact.variance(), 1e-9));
}
