#include "factors/likelihoods/greater_than.h"

#include <doctest/doctest.h>

#include "tests/oracles/quadrature.h"
#include "tests/oracles/relative.h"

namespace {
using namespace dma;
}

TEST_CASE("greater_than: the message makes the marginal the cut Gaussian's moments, and the integral its mass") {
  for (const double mean : {-4.0, -1.0, 0.0, 2.0, 5.0})
    for (const double threshold : {-0.5, 0.0, 1.2}) {
      const Gaussian x = Gaussian::from_moments(mean, 1.7);
      const auto cut = [&](auto f) {
        return oracle::expectation([&](double t) { return t > threshold ? f(t) : 0.0; }, x, threshold);
      };
      const double mass = cut([](double) { return 1.0; }), first = cut([](double t) { return t; }) / mass;
      const double second = cut([&](double t) { return (t - first) * (t - first); }) / mass;
      const Gaussian marginal = GreaterThan::to_x(x, {threshold}) * x;
      CHECK(marginal.mean() == oracle::relative(first, 1e-9));
      CHECK(marginal.variance() == oracle::relative(second, 1e-9));
      CHECK(GreaterThan::log_integral(x, {threshold}) == oracle::relative(std::log(mass), 1e-9));
    }
}

TEST_CASE("greater_than: far below the threshold the marginal is an exponential beyond it") {
  for (const double distance : {20.0, 1e3, 1e6}) {
    const Gaussian x = Gaussian::from_moments(-distance, 1);
    const Gaussian marginal = GreaterThan::to_x(x, {0}) * x;
    CHECK(marginal.mean() == oracle::relative(1 / distance, 0.01));
    CHECK(marginal.sd() == oracle::relative(1 / distance, 0.01));
  }
  CHECK(GreaterThan::to_x(Gaussian::uniform(), {0}).is_uniform());
  CHECK(GreaterThan::to_x(Gaussian::point(3), {0}).is_uniform());
  CHECK(GreaterThan::log_integral(Gaussian::point(-3), {0}) == -kInfinity);
}
