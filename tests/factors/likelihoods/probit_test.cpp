#include "factors/likelihoods/probit.h"

#include <doctest/doctest.h>

#include "factors/authoring/normal.h"
#include "tests/oracles/quadrature.h"
#include "tests/oracles/relative.h"

using namespace dma;
using oracle::matched;

TEST_CASE("probit: uncertain outcomes mix, in both directions") {
  const Gaussian y = Gaussian::from_moments(0.4, 0.5), x = Gaussian::from_moments(-0.8, 2);
  const double p = normal::distribution(0.4 / std::sqrt(0.5));
  const Gaussian of_x = Probit::to_x(x, y) * x;
  const auto exact_x =
      matched([&](double t) { return p * normal::distribution(t) + (1 - p) * normal::distribution(-t); }, x, 0);
  CHECK(of_x.mean() == oracle::relative(exact_x.mean, 1e-10));
  // The exact marginal is wider than the arriving message: no proper message gives its variance, and only the mean is
  // kept.
  CHECK(exact_x.variance > 2);
  CHECK(of_x.variance() == oracle::relative(2, 1e-5));
  CHECK(Probit::to_x(x, y).replaced);
  const Gaussian sure = Gaussian::from_moments(0.9, 0.1), far = Gaussian::from_moments(-1, 0.5);
  const double s = normal::distribution(0.9 / std::sqrt(0.1));
  const auto exact_far =
      matched([&](double t) { return s * normal::distribution(t) + (1 - s) * normal::distribution(-t); }, far, 0);
  CHECK((Probit::to_x(far, sure) * far).variance() == oracle::relative(exact_far.variance, 1e-9));
  const double q = Probit::probability(x);
  const Gaussian of_y = Probit::to_y(x, y) * y;
  const auto exact_y = matched([&](double t) { return t > 0 ? q : 1 - q; }, y, 0);
  CHECK(of_y.mean() == oracle::relative(exact_y.mean, 1e-10));
  CHECK(exact_y.variance > 0.5);
  CHECK(of_y.variance() == oracle::relative(0.5, 1e-5));
  CHECK(Probit::to_x(x, Gaussian::uniform()).is_uniform());
  CHECK(Probit::to_x(Gaussian::uniform(), Gaussian::point(1)).is_uniform());
  CHECK(Probit::to_y(x, Gaussian::point(1)).is_uniform());
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
  const auto exact = matched([&](double t) { return t > 0 ? up : down; }, y, 0);
  const Gaussian found = Probit::to_y(Gaussian::point(x), y) * y;
  CHECK(found.mean() == oracle::relative(exact.mean, 1e-9));
  CHECK(found.variance() == oracle::relative(exact.variance, 1e-9));
}
