#include "factors/arithmetic/leaky_relu.h"

#include "tests/oracles/accuracy.h"

namespace dma {
namespace {

const oracle::Range kModerateInputs{"moderate", {0.01, 6}, {0.1, 10}, 1e-10};

}  // namespace

TEST_CASE("leaky_relu: message to y has the moments of Prop. 3.4") {
  oracle::check_accuracy("leaky_relu to y", [](auto& random, const auto& range, auto& accuracy) {
    const Gaussian x = random.proper(range);
    const double slope = random.slope();
    accuracy.compare(LeakyRelu::to_y(x, {slope}), oracle::leaky_relu_to_y(x, slope));
  });
}

TEST_CASE("leaky_relu: message to x has the moments of Prop. 3.5") {
  oracle::check_accuracy("leaky_relu to x", [](auto& random, const auto& range, auto& accuracy) {
    const Gaussian y = random.proper(range);
    const double slope = random.slope();
    accuracy.compare(LeakyRelu::to_x(y, {slope}), oracle::leaky_relu_to_x(y, slope));
  });
}

TEST_CASE("leaky_relu: message to y is accurate at slope 0, down to where the variance underflows") {
  for (double u = -25; u <= 10; u += 0.125) {
    const Gaussian x = Gaussian::from_moments(u, 1);
    const oracle::Moments truth = oracle::leaky_relu_to_y(x, 0);
    const Gaussian message = LeakyRelu::to_y(x, {0});
    CAPTURE(u);
    CHECK(oracle::relative_error(message.mean(), truth.mean) < 1e-12);
    CHECK(oracle::relative_error(message.variance(), truth.variance) < 1e-12);
  }
  CHECK(LeakyRelu::to_y(Gaussian::from_moments(-50, 1), {0}) == Gaussian::point(0));
}

TEST_CASE("leaky_relu: message to y has the moments of the pushforward by quadrature") {
  oracle::RandomMessages random(oracle::kSeed);
  for (int i = 0; i < 300; ++i) {
    const Gaussian x = random.proper(kModerateInputs);
    const LeakyRelu::Parameters p{random.log_uniform({0.01, 1})};
    const double mean = oracle::expectation([&](double t) { return LeakyRelu::value(t, p); }, x, 0);
    const double variance =
        oracle::expectation([&](double t) { return std::pow(LeakyRelu::value(t, p) - mean, 2); }, x, 0);
    const Gaussian message = LeakyRelu::to_y(x, p);
    CHECK(std::abs(message.mean() - mean) <= kModerateInputs.tolerance * std::max(std::abs(mean), message.sd()));
    CHECK(message.variance() == oracle::relative(variance, kModerateInputs.tolerance));
  }
}

TEST_CASE("leaky_relu: message to x has the moments of N(value(x); m, v) by quadrature") {
  oracle::RandomMessages random(oracle::kSeed);
  for (int i = 0; i < 300; ++i) {
    const Gaussian y = random.proper(kModerateInputs);
    const LeakyRelu::Parameters p{random.log_uniform({0.01, 1})};
    const auto moment = [&](auto f) {
      // Each half-line is integrated in y = value(x), dx = dy on the right and dy / slope on the left.
      return oracle::expectation([&](double t) { return f(LeakyRelu::inverse(t, p)) * (t > 0 ? 1 : 1 / p.slope); }, y,
                                 0);
    };
    const double mass = moment([](double) { return 1.0; });
    const double mean = moment([](double x) { return x; }) / mass;
    const double variance = moment([&](double x) { return (x - mean) * (x - mean); }) / mass;
    const Gaussian message = LeakyRelu::to_x(y, p);
    CHECK(std::abs(message.mean() - mean) <= kModerateInputs.tolerance * std::max(std::abs(mean), message.sd()));
    CHECK(message.variance() == oracle::relative(variance, kModerateInputs.tolerance));
  }
}

TEST_CASE("leaky_relu: slope 1 is the identity, bit for bit") {
  oracle::RandomMessages random(oracle::kSeed);
  for (int i = 0; i < 10'000; ++i) {
    const Gaussian message = random.any();
    CHECK(LeakyRelu::to_y(message, {1}) == message);
    CHECK(LeakyRelu::to_x(message, {1}) == message);
  }
}

TEST_CASE("leaky_relu: uniform in, uniform out; point in, point out") {
  const Gaussian uniform;
  CHECK(LeakyRelu::to_y(uniform, {0.1}) == uniform);
  CHECK(LeakyRelu::to_x(uniform, {0.1}) == uniform);
  for (const double location : {-3.0, 0.0, 2.0}) {
    const Gaussian y = LeakyRelu::to_y(Gaussian::point(location), {0.25});
    CHECK(y == Gaussian::point(location > 0 ? location : 0.25 * location));
    CHECK(LeakyRelu::to_x(y, {0.25}) == Gaussian::point(location));
  }
}

TEST_CASE("leaky_relu: slope 0 sends uniform to x where the exact message is improper") {
  CHECK(LeakyRelu::to_x(Gaussian::from_moments(-1, 1), {0}).is_uniform());
  CHECK(LeakyRelu::to_x(Gaussian::from_moments(1, 1), {0}).is_uniform());
  CHECK(LeakyRelu::to_x(Gaussian::from_moments(-100, 1), {0}).is_uniform());
}

}  // namespace dma
