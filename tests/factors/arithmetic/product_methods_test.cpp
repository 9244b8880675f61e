#include <doctest/doctest.h>

#include <cmath>

#include "factors/arithmetic/product_ep.h"
#include "factors/arithmetic/product_linearised.h"
#include "factors/arithmetic/vmp.h"
#include "tests/oracles/quadrature.h"
#include "tests/oracles/random_messages.h"

namespace {

using namespace dma;

constexpr std::uint64_t kProductSeed = 11;
const oracle::Range kModerate{"moderate", {0.1, 5}, {1e-1, 1e1}, 0};

}  // namespace

TEST_CASE("product linearised: the message to x is that of the linear factor, by its moments") {
  // z = mx my + my (x - mx) + mx (y - my) + e with Var e = vx vy, solved for x.
  oracle::RandomMessages random(kProductSeed);
  for (int i = 0; i < 10'000; ++i) {
    const Gaussian x = random.proper(oracle::kOrdinary), y = random.proper(oracle::kOrdinary),
                   z = random.proper(oracle::kOrdinary);
    const double noise = z.variance() + x.mean() * x.mean() * y.variance() + x.variance() * y.variance();
    const Gaussian message = ProductLinearised::to_factor(x, y, z);
    const double variance = noise / (y.mean() * y.mean()), mean = z.mean() / y.mean();
    CHECK(std::abs(message.variance() / variance - 1) < 1e-12);
    CHECK(std::abs(message.mean() - mean) < 1e-12 * (std::abs(mean) + std::sqrt(variance)));
  }
}

TEST_CASE("product linearised: gradients and residual are those of the best linear fit, by quadrature") {
  const Gaussian x(0.8, 2.0), y(-0.9, 1.5);
  const auto over = [&](const auto& f) {
    return oracle::expectation([&](double a) { return oracle::expectation([&](double b) { return f(a, b); }, y); }, x);
  };
  const double mean = over([](double a, double b) { return a * b; });
  const double gradient = over([&](double a, double b) { return (a - x.mean()) * (a * b - mean); }) / x.variance();
  CHECK(gradient == doctest::Approx(y.mean()).epsilon(1e-10));
}

TEST_CASE("product linearised: proper on 10^6 random messages") {
  oracle::RandomMessages random(kProductSeed);
  for (int i = 0; i < 1'000'000; ++i) {
    const Gaussian message = ProductLinearised::to_factor(random.any(), random.any(), random.any());
    if (!is_valid(message)) FAIL("not valid: tau ", message.tau, " rho ", message.rho);
  }
  MESSAGE("1000000 messages, none invalid");
}

TEST_CASE("product ep: message times arrival has the moments of the marginal, by adaptive quadrature") {
  oracle::RandomMessages random(kProductSeed);
  int negative = 0;
  constexpr double kQuadratureError = 1e-8;  // two layers of quadrature on the oracle's side
  for (int i = 0; i < 300; ++i) {
    const Gaussian x = random.proper(kModerate), y = random.proper(kModerate), z = random.proper(kModerate);
    // The weight of x after y and z are integrated out; the weight of z by adaptive quadrature over x, y given x.
    const auto likelihood = [&](double a) {
      return std::exp(log_density(Gaussian::from_moments(a * y.mean(), z.variance() + a * a * y.variance()), z.mean()));
    };
    const auto marginal = [&](const auto& mean_given, const auto& variance_given) {
      // Split at 0, where the likelihood is sharpest.
      const double mass = oracle::expectation(likelihood, x, 0.0);
      const double mean = oracle::expectation([&](double a) { return likelihood(a) * mean_given(a); }, x, 0.0) / mass;
      const double variance = oracle::expectation(
                                  [&](double a) {
                                    const double off = mean_given(a) - mean;
                                    return likelihood(a) * (variance_given(a) + off * off);
                                  },
                                  x, 0.0) /
                              mass;
      return Gaussian::from_moments(mean, variance);
    };
    const auto check = [&](const Gaussian& message, const Gaussian& arrived, const Gaussian& truth) {
      CHECK(std::abs(message.rho + arrived.rho - truth.rho) < kQuadratureError * truth.rho);
      CHECK(std::abs(message.tau + arrived.tau - truth.tau) <
            kQuadratureError * (std::abs(truth.tau) + std::sqrt(truth.rho)));
      negative += message.rho < 0;
    };
    check(ProductEp::to_factor(x, y, z), x, marginal([](double a) { return a; }, [](double) { return 0.0; }));
    const auto z_given = [&](double a) { return z * Gaussian::from_moments(a * y.mean(), a * a * y.variance()); };
    check(ProductEp::to_z(x, y, z), z,
          marginal([&](double a) { return z_given(a).mean(); }, [&](double a) { return z_given(a).variance(); }));
  }
  MESSAGE(negative, " of 600 messages have negative precision");
  CHECK(negative > 0);
}

TEST_CASE("product ep: resolves a marginal a thousand times narrower than the arriving message") {
  const Gaussian x = Gaussian::from_moments(0, 1), y = Gaussian::from_moments(2, 1e-10),
                 z = Gaussian::from_moments(0.6, 1e-6);
  const Gaussian message = ProductEp::to_factor(x, y, z);
  CHECK(message.mean() == doctest::Approx(0.3).epsilon(1e-6));
  CHECK(message.variance() == doctest::Approx(1e-6 / 4).epsilon(1e-4));
}

TEST_CASE("product vmp: every message is a point mass") {
  const Gaussian y = Gaussian::from_moments(2, 1), z = Gaussian::from_moments(6, 3);
  CHECK(ProductVmp::to_z(y, z) == Gaussian::point(12));
  CHECK(ProductVmp::to_factor(y, z) == Gaussian::point(6 * 2 / 5.0));
  CHECK(ProductVmp::to_factor({}, z).is_uniform());
}
