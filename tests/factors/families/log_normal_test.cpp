#include "factors/families/log_normal.h"

#include "tests/oracles/accuracy.h"

namespace dma {

TEST_CASE("log_normal: mean and variance of x agree with sixty digits") {
  oracle::RandomMessages random(oracle::kSeed);
  for (int i = 0; i < 1000; ++i) {
    const double log_mean = 200 * random.uniform() - 100;
    const LogNormal l = LogNormal::from_log_moments(log_mean, random.log_uniform({1e-24, 50}));
    const auto [mean, variance] = oracle::log_copy_to_x(l, 1);
    // The exponent reaches 300, and its rounding is the error.
    CHECK(oracle::relative_error(l.mean(), mean) < 1e-13);
    CHECK(oracle::relative_error(l.variance(), variance) < 2e-13);
  }
}

TEST_CASE("log_normal: no density at or below 0") {
  CHECK(log_density(LogNormal(0, 1), 0) == -kInfinity);
  CHECK(log_density(LogNormal(0, 1), -1) == -kInfinity);
  CHECK(log_density(LogNormal::uniform(), -1) == 0);
  CHECK(log_density(LogNormal::point(3), 3) == kInfinity);
  CHECK(log_density(LogNormal::point(3), 2) == -kInfinity);
}

}  // namespace dma
