#include "factors/families/log_normal.h"

#include <vector>

#include "tests/oracles/accuracy.h"
#include "tests/oracles/paper_messages.h"
#include "tests/oracles/quadrature.h"
#include "tests/oracles/relative.h"

namespace dma {
namespace {

const std::vector<LogNormal> kEveryLogNormal = {
    LogNormal::uniform(),      LogNormal::point(1),   LogNormal::point(1e-300),  LogNormal::point(1e300),
    LogNormal(0, 1),           LogNormal(-3, 0.5),    LogNormal(1e300, 1e300),   LogNormal(1e300, 1e-300),
    LogNormal(-1e300, 1e-300), LogNormal(-1e4, 1e-2), LogNormal(-1e300, 5e-324), LogNormal(0, 1e307),
    LogNormal(1e-300, 1e-307)};

LogNormal moderate(oracle::RandomMessages& random) {
  const double mean = 4 * random.uniform() - 2;
  return LogNormal::from_log_moments(mean, random.log_uniform({0.01, 1}));
}

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

TEST_CASE("log_normal: mean and variance of x are those of its density, by quadrature") {
  oracle::RandomMessages random(oracle::kSeed);
  for (int i = 0; i < 100; ++i) {
    const LogNormal l = moderate(random);
    const auto moment = [&](auto f) {
      const auto in_log = [&](double t) { return f(std::exp(t)) * std::exp(log_density(l, std::exp(t)) + t); };
      const double middle = l.log_mean(), reach = oracle::kReach * l.log().sd();
      return oracle::integral(in_log, middle - reach, middle) + oracle::integral(in_log, middle, middle + reach);
    };
    CHECK(moment([](double) { return 1.0; }) == oracle::relative(1, 1e-12));
    CHECK(moment([](double x) { return x; }) == oracle::relative(l.mean(), 1e-11));
    CHECK(moment([&](double x) { return std::pow(x - l.mean(), 2); }) == oracle::relative(l.variance(), 1e-10));
  }
}

TEST_CASE("log_normal: kl equals the integral of p log(p/q) over x") {
  oracle::RandomMessages random(oracle::kSeed);
  for (int i = 0; i < 100; ++i) {
    const LogNormal p = moderate(random), q = moderate(random);
    const double by_quadrature = oracle::expectation(
        [&](double t) { return log_density(p, std::exp(t)) - log_density(q, std::exp(t)); }, p.log());
    CHECK(kl(p, q) == oracle::relative(by_quadrature, 1e-10));
  }
}

TEST_CASE("log_normal: products and quotients are those of the Gaussians of log x") {
  const LogNormal a(3, 2), b(-1, 4);
  CHECK((a * b).log() == a.log() * b.log());
  CHECK((a * b) / b == a);
  CHECK(a * LogNormal::uniform() == a);
  CHECK(a / a == LogNormal::uniform());
  CHECK(LogNormal::point(2) * a == LogNormal::point(2));
  CHECK(a / LogNormal::point(2) == LogNormal::uniform());
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
