#include "factors/likelihoods/greater_than.h"

#include <doctest/doctest.h>

#include "tests/oracles/relative.h"

using namespace dma;

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
