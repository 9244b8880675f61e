#include "engine/support/maximise.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "tests/oracles/relative.h"

using namespace dma;
using Vector = Eigen::VectorXd;

TEST_CASE("maximise: a curved ridge is followed to its top") {  // Rosenbrock's function, negated
  const auto ridge = [](const Vector& x, Vector& slope) {
    const double across = x[1] - x[0] * x[0], along = 1 - x[0];
    slope[0] = 400 * across * x[0] + 2 * along;
    slope[1] = -200 * across;
    return -(100 * across * across + along * along);
  };
  const Maximum found = maximise(ridge, Vector{{-1.2, 1}});
  CHECK(found.converged);
  CHECK(found.at[0] == oracle::relative(1, 1e-6));
  CHECK(found.at[1] == oracle::relative(1, 1e-6));
  CHECK(found.evaluations < 200);
}

TEST_CASE("maximise: a top beyond the box is looked for on its wall") {
  const auto hill = [](const Vector& x, Vector& slope) {
    slope = Vector{{-2 * (x[0] - 5), -2 * (x[1] - 0.25)}};
    return -(x[0] - 5) * (x[0] - 5) - (x[1] - 0.25) * (x[1] - 0.25);
  };
  const Maximum found = maximise(hill, Vector{{0, 0}}, {.low = -1, .high = 1});
  CHECK(found.converged);
  CHECK(found.at[0] == 1);
  CHECK(found.at[1] == oracle::relative(0.25, 1e-6));
}

TEST_CASE("maximise: a NaN is stepped back from, and reaching the limit is not convergence") {
  const auto cliff = [](const Vector& x, Vector& slope) {
    slope[0] = 1 / x[0] - 1;
    return x[0] > 0 ? std::log(x[0]) - x[0] : std::numeric_limits<double>::quiet_NaN();
  };
  const Maximum found = maximise(cliff, Vector{{20}});
  CHECK(found.converged);
  CHECK(found.at[0] == oracle::relative(1, 1e-6));
  CHECK(!maximise(cliff, Vector{{20}}, {.limit = 3}).converged);
}
