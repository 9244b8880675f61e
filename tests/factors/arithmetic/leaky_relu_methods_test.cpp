#include <doctest/doctest.h>

#include <cmath>

#include "factors/arithmetic/leaky_relu_ep.h"
#include "factors/arithmetic/leaky_relu_linearised.h"
#include "factors/arithmetic/vmp.h"
#include "tests/oracles/messages_agree.h"
#include "tests/oracles/quadrature.h"
#include "tests/oracles/random_messages.h"
#include "tests/oracles/relative.h"

namespace {

using namespace dma;

// Quadrature of each method's definition is accurate to about 1e-12; messages obtained by division lose digits if the
// marginal is almost the arriving message, so precisions are compared relative to the larger of the two.
constexpr double kTolerance = 1e-9;
constexpr std::uint64_t kSeed = 7;

struct Case {
  Gaussian x, y;
  LeakyRelu::Parameters p;
};

Case random_case(oracle::RandomMessages& random) {
  const oracle::Range range{"moderate", {1e-2, 5}, {1e-2, 1e2}, 0};
  return {random.proper(range), random.proper(range), {0.05 + 0.9 * random.uniform()}};
}

}  // namespace

TEST_CASE("leaky_relu linearised: the message to x is that of the best linear fit, by quadrature") {
  oracle::RandomMessages random(kSeed);
  for (int i = 0; i < 2000; ++i) {
    const Case drawn = random_case(random);  // clang 14 captures no structured bindings
    const Gaussian &x = drawn.x, &y = drawn.y;
    const LeakyRelu::Parameters p = drawn.p;
    const auto g = [&](double t) { return LeakyRelu::value(t, p); };
    const double mean = oracle::expectation(g, x, 0.0);
    const double covariance = oracle::expectation([&](double t) { return (t - x.mean()) * (g(t) - mean); }, x, 0.0);
    const double variance = oracle::expectation([&](double t) { return (g(t) - mean) * (g(t) - mean); }, x, 0.0);
    const double gradient = covariance / x.variance();
    const double residual = variance - gradient * gradient * x.variance();
    const double expected_variance = (y.variance() + residual) / (gradient * gradient);
    const double expected_mean = x.mean() + (y.mean() - mean) / gradient;
    const Gaussian message = LeakyReluLinearised::to_x(x, y, p);
    CHECK(std::abs(message.variance() / expected_variance - 1) < kTolerance);
    CHECK(std::abs(message.mean() - expected_mean) <
          kTolerance * (std::abs(expected_mean) + std::sqrt(expected_variance)));
  }
}

TEST_CASE("leaky_relu ep: message times arrival has the moments of the marginal, by quadrature") {
  oracle::RandomMessages random(kSeed);
  int negative = 0;
  for (int i = 0; i < 2000; ++i) {
    const Case drawn = random_case(random);
    const Gaussian &x = drawn.x, &y = drawn.y;
    const LeakyRelu::Parameters p = drawn.p;
    const auto weight = [&](double t) {
      return std::exp(log_density(y, LeakyRelu::value(t, p)) - log_density(y, y.mean()));
    };
    const auto moments = [&](const auto& of) {
      const double mass = oracle::expectation(weight, x, 0.0);
      const double mean = oracle::expectation([&](double t) { return weight(t) * of(t); }, x, 0.0) / mass;
      const double variance =
          oracle::expectation([&](double t) { return weight(t) * (of(t) - mean) * (of(t) - mean); }, x, 0.0) / mass;
      return Gaussian::from_moments(mean, variance);
    };
    const auto check = [&](const Gaussian& message, const Gaussian& arrived, const Gaussian& marginal) {
      CHECK(std::abs(message.rho + arrived.rho - marginal.rho) < kTolerance * marginal.rho);
      CHECK(std::abs(message.tau + arrived.tau - marginal.tau) <
            kTolerance * (std::abs(marginal.tau) + std::sqrt(marginal.rho)));
      negative += message.rho < 0;
    };
    check(LeakyReluEp::to_x(x, y, p), x, moments([](double t) { return t; }));
    check(LeakyReluEp::to_y(x, y, p), y, moments([&](double t) { return LeakyRelu::value(t, p); }));
  }
  CHECK(negative > 0);
}

TEST_CASE("leaky_relu ep: with both pieces far tails at the kink, moments are those of quadrature") {
  const auto moment = [](double tau, double rho, int power) {  // over t > 0; tau is negative
    return oracle::integral([&](double t) { return std::pow(t, power) * std::exp(t * (tau - 0.5 * rho * t)); }, 0,
                            -80 / tau);
  };
  for (const double size : {30.0, 60.0, 400.0}) {
    const Gaussian x(size, 1), y(-2 * size, 1.5);
    const double slope = 0.1, positive = x.tau + y.tau, negative = -(x.tau + slope * y.tau), rho = x.rho + y.rho,
                 other_rho = x.rho + slope * slope * y.rho;
    const auto marginal = [&](double scale) {  // function of t for t > 0 and of scale t for t < 0
      const double mass = moment(positive, rho, 0) + moment(negative, other_rho, 0);
      const double mean = (moment(positive, rho, 1) - scale * moment(negative, other_rho, 1)) / mass;
      const double square = (moment(positive, rho, 2) + scale * scale * moment(negative, other_rho, 2)) / mass;
      return Gaussian::from_moments(mean, square - mean * mean);
    };
    const auto check = [&](const Gaussian& message, const Gaussian& arrived, const Gaussian& expected) {
      CHECK(message.rho + arrived.rho == oracle::relative(expected.rho, 1e-8));
      CHECK(message.tau + arrived.tau == oracle::relative(expected.tau, 1e-7));
    };
    check(LeakyReluEp::to_x(x, y, {slope}), x, marginal(1));
    check(LeakyReluEp::to_y(x, y, {slope}), y, marginal(slope));
  }
}

TEST_CASE("leaky_relu hybrid: equals ep where that is proper, linearised elsewhere, and is valid") {
  oracle::RandomMessages random(kSeed);
  int fallen_back = 0;
  double worst = 0;
  for (int i = 0; i < 100'000; ++i) {
    const auto [x, y, p] = random_case(random);
    const Gaussian ep = LeakyReluEp::to_x(x, y, p), hybrid = LeakyReluEp::to_x_or_linearised(x, y, p);
    REQUIRE(is_valid(hybrid));
    const Gaussian expected = ep.rho > 0 ? ep : LeakyReluLinearised::to_x(x, y, p);
    worst = std::max(worst, oracle::distance(hybrid, expected) / oracle::loss_by_division(x, expected));
    fallen_back += ep.rho <= 0;
  }
  MESSAGE(fallen_back, " of 100000 fell back; largest difference ", worst);
  CHECK(worst < 1e-13);
  CHECK(fallen_back > 0);
}

TEST_CASE("leaky_relu: at slope 1 every method is the identity; uniform in, uniform out") {
  const Gaussian x(0.3, 2), y(-1.5, 0.7);
  CHECK(LeakyReluLinearised::to_x(x, y, {1}) == y);
  CHECK(LeakyReluEp::to_x(x, y, {1}) == y);
  CHECK(LeakyReluLinearised::to_x(x, {}, {0.3}).is_uniform());
  CHECK(LeakyReluEp::to_x(x, {}, {0.3}).is_uniform());
  CHECK(LeakyReluVmp::to_x({}, {0.3}).is_uniform());
  CHECK(LeakyReluVmp::to_y({}, {0.3}).is_uniform());
}
