#include "factors/families/log_normal.h"

#include <vector>

#include "tests/oracles/accuracy.h"
#include "tests/oracles/paper_messages.h"

namespace dma {
namespace {

const std::vector<LogNormal> kEveryLogNormal = {
    LogNormal::uniform(),      LogNormal::point(1),   LogNormal::point(1e-300),  LogNormal::point(1e300),
    LogNormal(0, 1),           LogNormal(-3, 0.5),    LogNormal(1e300, 1e300),   LogNormal(1e300, 1e-300),
    LogNormal(-1e300, 1e-300), LogNormal(-1e4, 1e-2), LogNormal(-1e300, 5e-324), LogNormal(0, 1e307),
    LogNormal(1e-300, 1e-307)};

}  // namespace

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

TEST_CASE("log_normal: every function is a number on every kind of message") {
  for (const LogNormal& a : kEveryLogNormal) {
    CAPTURE(a.tau);
    CAPTURE(a.rho);
    CHECK(is_valid(a));
    CHECK(a.mean() >= 0);
    CHECK(a.variance() >= 0);
    CHECK_FALSE(std::isnan(a.log_mean()));
    CHECK_FALSE(std::isnan(a.log_variance()));
    for (const double x : {-1.0, 0.0, 1e-300, 1.0, 1e300}) CHECK_FALSE(std::isnan(log_density(a, x)));
    for (const LogNormal& b : kEveryLogNormal) {
      CHECK(is_valid(a * b));
      CHECK(kl(a, b) >= 0);
    }
  }
}

}  // namespace dma
