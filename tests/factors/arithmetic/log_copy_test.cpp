#include "factors/arithmetic/log_copy.h"

#include "tests/oracles/accuracy.h"

namespace dma {
namespace {

double sign_of(const Gaussian& x) { return std::copysign(1, x.tau); }

// The log-normals that correspond to the Gaussians of a range: log-variances from 1e-24 to 55 in the far one.
LogNormal log_of(const Gaussian& x) { return LogCopy::to_log(x, {sign_of(x)}); }

}  // namespace

TEST_CASE("log_copy: message to the log-normal has the mean and variance of the Gaussian") {
  oracle::check_accuracy("log_copy to log", [](auto& random, const auto& range, auto& accuracy) {
    const Gaussian x = random.proper(range);
    accuracy.compare(log_of(x), oracle::log_copy_to_log(x));
  });
}

TEST_CASE("log_copy: message to x has the mean and variance of the log-normal") {
  oracle::check_accuracy("log_copy to x", [](auto& random, const auto& range, auto& accuracy) {
    const LogNormal l = log_of(random.proper(range));
    const double sign = random.sign();
    accuracy.compare(LogCopy::to_x(l, {sign}), oracle::log_copy_to_x(l, sign));
  });
}

TEST_CASE("log_copy: message to x has the moments of the pushforward by quadrature") {
  oracle::RandomMessages random(oracle::kSeed);
  for (int i = 0; i < 300; ++i) {
    const double log_mean = 4 * random.uniform() - 2;
    const Gaussian log_x = Gaussian::from_moments(log_mean, random.log_uniform({0.01, 1}));
    const LogCopy::Parameters p{random.sign()};
    // exp(2 l) shifts the mass by two variances, at most two of the twelve deviations integrated over.
    const double mean = oracle::expectation([&](double l) { return LogCopy::value(l, p); }, log_x);
    const double variance =
        oracle::expectation([&](double l) { return std::pow(LogCopy::value(l, p) - mean, 2); }, log_x);
    const Gaussian message = LogCopy::to_x(LogNormal(log_x), p);
    CHECK(message.mean() == oracle::relative(mean, 1e-10));
    CHECK(message.variance() == oracle::relative(variance, 1e-10));
  }
}

TEST_CASE("log_copy: v/m^2 of 1e-24 and of 1e20 keep their digits") {
  for (const double ratio : {1e-24, 1e20}) {
    const Gaussian x = Gaussian::from_moments(3, 9 * ratio);
    const oracle::Moments truth = oracle::log_copy_to_log(x);
    const LogNormal l = log_of(x);
    CHECK(oracle::relative_error(l.log_variance(), truth.variance) < 1e-15);
    CHECK(oracle::relative_error(l.log_mean(), truth.mean) < 1e-15);
  }
}

TEST_CASE("log_copy: a mean of the other sign, or zero, sends the uniform message") {
  CHECK(LogCopy::to_log(Gaussian::from_moments(-1, 1), {+1}).is_uniform());
  CHECK(LogCopy::to_log(Gaussian::from_moments(1, 1), {-1}).is_uniform());
  CHECK(LogCopy::to_log(Gaussian(0, 1), {+1}).is_uniform());
  CHECK(LogCopy::to_log(Gaussian::uniform(), {+1}).is_uniform());
  CHECK(LogCopy::to_log(Gaussian::point(-2), {+1}).is_uniform());
  CHECK(LogCopy::to_log(Gaussian::point(0), {+1}).is_uniform());
}

TEST_CASE("log_copy: uniform to uniform, points to points") {
  CHECK(LogCopy::to_x(LogNormal::uniform(), {-1}) == Gaussian::uniform());
  CHECK(LogCopy::to_log(Gaussian::point(-2), {-1}) == LogNormal::point(2));
  CHECK(LogCopy::to_x(LogNormal::point(1), {-1}) == Gaussian::point(-1));
}

}  // namespace dma
