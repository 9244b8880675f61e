#include "factors/authoring/normal.h"

#include <boost/math/special_functions/erf.hpp>

#include "tests/oracles/accuracy.h"

namespace dma {
namespace {

using oracle::Real;

// Ten rounded operations, and the rounding of t^2/2 in an exponent that reaches 700 before exp underflows.
constexpr double kNormalError = 5e-13;

// Beyond this phi underflows, and products with it cannot be compared.
constexpr double kDensityRange = 37;

Real hazard(const Real& t) { return oracle::phi(t) / oracle::Phi(t); }

}  // namespace

TEST_CASE("normal: the oracle's own tails are those of erfc") {
  for (const double t : {0.0, 1e-12, 0.3, 1.0, 2.9, 5.5, 7.999, 8.0, 8.3, 11.0, 20.0, 45.0, 300.0, 2e4, 4.9e4}) {
    CAPTURE(t);
    const Real above = boost::math::erfc(t / sqrt(Real(2))) / 2;
    for (const int side : {-1, 1}) {
      const auto [density, low, high] = oracle::halves(side * Real(t));
      CHECK(abs((side > 0 ? high : low) / above - 1) < 1e-44);
      CHECK(abs((side > 0 ? low : high) + above - 1) < 1e-58);
    }
  }
}

TEST_CASE("normal: density and distribution keep relative accuracy in both tails") {
  oracle::RandomMessages random(oracle::kSeed);
  double worst = 0;
  for (int i = 0; i < 2000; ++i) {
    const double t = random.sign() * random.log_uniform({1e-6, kDensityRange});
    worst = std::max(worst, oracle::relative_error(normal::density(t), oracle::phi(t)));
    worst = std::max(worst, oracle::relative_error(normal::distribution(t), oracle::Phi(t)));
  }
  CHECK(worst < kNormalError);
}

TEST_CASE("normal: the table's exponential keeps relative accuracy over its range") {
  const normal::MillsTable& table = normal::MillsTable::get();
  double worst = 0;
  for (double x = 0; x < normal::kMillsEnd; x += 0.0037)
    worst = std::max(worst, oracle::relative_error(table.exponential(x), exp(-Real(x) * x / 2)));
  CHECK(worst < 1e-15);
}

TEST_CASE("normal: hazard and variance of a tail agree with their definitions out to 3e4") {
  oracle::RandomMessages random(oracle::kSeed);
  double worst_hazard = 0, worst_variance = 0;
  for (int i = 0; i < 4000; ++i) {
    const double x = random.log_uniform({1e-3, 3e4});
    const normal::Tail beyond = normal::tail(x);
    const Real h = hazard(-x);
    worst_hazard = std::max(worst_hazard, oracle::relative_error(beyond.hazard, h));
    worst_variance = std::max(worst_variance, oracle::relative_error(beyond.variance, 1 - h * (h - x)));
  }
  CHECK(worst_hazard < kNormalError);
  CHECK(worst_variance < kNormalError);
}

TEST_CASE("normal: tails are accurate on both sides of where the continued fraction takes over") {
  for (const double x :
       {0.0, 0.01, 0.5, 0.99, 1.0, 1.7, 3.0, 4.2, 6.0, 9.0, 12.0, 15.99, 16.0, 16.5, 20.0, 40.0, 113.0}) {
    const normal::Tail beyond = normal::tail(x);
    const Real h = hazard(-x);
    CAPTURE(x);
    CHECK(oracle::relative_error(beyond.hazard, h) < 5e-16);
    CHECK(oracle::relative_error(beyond.excess, h - x) < 1e-15);
    // Mills' ratio and its derivative lose x^2 ulps, the continued fraction a few.
    const double ulps = x < normal::kMillsEnd ? 16 + 4 * x * x : 16;
    CHECK(oracle::relative_error(beyond.variance, 1 - h * (h - x)) < ulps * 1.2e-16);
  }
}

TEST_CASE("normal: the variance of a tail follows its asymptotic series 1/x^2 - 6/x^4 + 50/x^6 out to 1e150") {
  for (double x = 1e4; x < 1e150; x *= 7) {
    const double square = x * x;
    const double series = (1 - 6 / square) / square;  // the next term is below 1e-14 of the first
    CHECK(normal::tail(x).variance == oracle::relative(series, 1e-14));
    CHECK(normal::tail(x).variance > 0);
  }
}

TEST_CASE("normal: the rectified moments of a tail agree with their definitions, without cancellation") {
  oracle::RandomMessages random(oracle::kSeed);
  double worst_mean = 0, worst_variance = 0;
  for (int i = 0; i < 4000; ++i) {
    const double u = -random.log_uniform({1e-6, 36});
    const normal::Tail beyond = normal::tail(-u);
    const Real p = oracle::Phi(u), density = oracle::phi(u), square = Real(u) * u;
    const Real mean = u * p + density;
    worst_mean = std::max(worst_mean, oracle::relative_error(beyond.probability * beyond.excess, mean));
    worst_variance = std::max(worst_variance, oracle::relative_error(normal::rectified_variance(beyond),
                                                                     (square + 1) * p + u * density - mean * mean));
  }
  CHECK(worst_mean < kNormalError);
  CHECK(worst_variance < kNormalError);
}

TEST_CASE("normal: tails at infinity are 0 and finite") {
  for (const double x : {1e3, 1e154, 1e200, kInfinity}) {
    const normal::Tail beyond = normal::tail(x);
    CHECK(beyond.probability == 0);
    CHECK(beyond.excess == doctest::Approx(1 / x));
    CHECK(beyond.variance >= 0);
    CHECK(normal::rectified_variance(beyond) == 0);
  }
}

}  // namespace dma
