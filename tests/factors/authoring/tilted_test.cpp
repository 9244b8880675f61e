#include "factors/authoring/tilted.h"

#include <doctest/doctest.h>

#include "factors/authoring/normal.h"
#include "factors/authoring/tilted_product.h"
#include "tests/oracles/quadrature.h"
#include "tests/oracles/relative.h"

namespace {

using namespace dma;

const Gaussian kStandard = Gaussian::from_moments(0, 1);

// A quadratic log f is a Gaussian: phi f has precision 1 + rho, and the message is f itself.
void check_quadratic(double at, double rho, double tolerance) {
  INFO("at ", at, ", rho ", rho);
  const Tilted t = tilt([=](double x) { return -0.5 * rho * (x - at) * (x - at); });
  REQUIRE(t.found);
  CHECK(t.rho == oracle::relative(rho, tolerance));
  CHECK(t.tau == oracle::relative(rho * at, tolerance, 1));
  CHECK(t.log_mass == oracle::relative(-0.5 * std::log1p(rho) - 0.5 * at * at * rho / (1 + rho), tolerance, 1));
}

}  // namespace

TEST_CASE("tilted: a Gaussian factor comes back, however narrow, wide or far away") {
  for (const double at : {0.0, 0.7, -3.0, 40.0})
    for (const double rho : {1e-3, 0.1, 1.0, 50.0, 1e6, 1e12}) check_quadratic(at, rho, 1e-6);
  check_quadratic(1e3, 1e8, 1e-6);
  check_quadratic(-2e4, 1.0, 1e-6);
  for (const double rho : {1e-6, 1e-9, 1e-12, 1e-15}) check_quadratic(3, rho, 1e-3);
}

TEST_CASE("tilted: the peak of a log-concave factor is climbed to, near or far, smooth or not") {
  for (const double at : {0.0, 0.7, -3.0, 40.0, -200.0})
    for (const double scale : {0.01, 1.0, 30.0}) {
      const auto logistic = [=](double t) {
        const double against = -scale * (t - at);
        return -std::fmax(against, 0.0) - std::log1p(std::exp(-std::abs(against)));
      };
      const auto poisson = [=](double t) { return 3 * scale * t - std::exp(scale * (t - at)); };
      const auto laplace = [=](double t) { return -scale * std::abs(t - at); };
      const auto check = [&](const LogFactor& log_f) {
        INFO("at ", at, ", scale ", scale);
        const Tilted climbed = tilt_log_concave(log_f, {&at, 1}), searched = tilt(log_f, {&at, 1});
        REQUIRE(climbed.found);
        CHECK(climbed.log_mass == oracle::relative(searched.log_mass, 1e-10, 1));
        CHECK(climbed.mean == oracle::relative(searched.mean, 1e-10, 1));
        CHECK(climbed.rho == oracle::relative(searched.rho, 1e-9, 1));
      };
      check(logistic), check(poisson), check(laplace);
    }
}

TEST_CASE("tilted: cut, skewed and heavy-tailed factors have the moments of the definition") {
  const auto check = [](const auto& log_f, double kink) {
    const Tilted t = tilt(log_f);
    const auto exact =
        oracle::matched([&](double x) { return std::isnan(log_f(x)) ? 0.0 : std::exp(log_f(x)); }, kStandard, kink);
    REQUIRE(t.found);
    CHECK(t.log_mass == oracle::relative(std::log(exact.mass), 1e-9));
    CHECK(t.mean == oracle::relative(exact.mean, 1e-9));
    CHECK(1 / (1 + t.rho) == oracle::relative(exact.variance, 1e-9));
  };
  check([](double x) { return x > 1.234 ? 0.0 : -kInfinity; }, 1.234);
  check([](double x) { return 7 * 2 * x - std::exp(2 * x); }, 0.9);
  check([](double x) { return -std::exp(4 * x); }, 0);
  check([](double x) { return -std::log1p(100 * (x - 3) * (x - 3)); }, 3);
  check([](double x) { return -2.5 * std::log1p(1e4 * (x + 5) * (x + 5) / 4); }, -5);
  check([](double x) { return 3 * std::log(x) - x; }, 0);  // NaN below 0
  check([](double x) { return std::log(std::exp(-200 * (x - 2) * (x - 2)) + std::exp(-200 * (x + 1.5) * (x + 1.5))); },
        0);
  for (const double slope : {0.01, 0.3, 5.0, 200.0}) {
    check([=](double x) { return -slope * std::abs(x - 0.7); }, 0.7);
    check([=](double x) { return -std::log1p(std::exp(-slope * (x - 2))); }, 2);
  }
  const Tilted slight = tilt([](double x) { return -1e-6 * std::abs(x - 0.7); });
  CHECK(slight.mean == oracle::relative(5.16072504277e-7, 1e-4));  // by 30 digits
}

TEST_CASE(
    "tilted: a factor that widens keeps the mean and is counted, "
    "one that says nothing is uniform, none at all no message") {
  const Gaussian arrived = Gaussian::from_moments(2, 9);
  const auto outlier = [](double t) { return -2.5 * std::log1p((t - 6) * (t - 6)); };
  const Tilted widened = tilt(outlier);
  CHECK(widened.rho < 0);
  const GaussianOrFallback message = tilted_message(widened, arrived);
  CHECK(message.replaced);
  CHECK(message.is_proper());
  const Gaussian belief = arrived * Gaussian(message);
  CHECK(belief.mean() == oracle::relative(2 + 3 * widened.mean, 1e-6));
  CHECK(belief.variance() == oracle::relative(9, 1e-5));
  CHECK(tilted_message(tilt([](double) { return -4.0; }), arrived).is_uniform());
  CHECK_FALSE(is_valid(tilted_message(tilt([](double) { return -kInfinity; }), arrived)));
}

TEST_CASE("tilted: a factor's message in its far flat part is almost uniform") {
  // The logistic likelihood of x ~ N(m, v): log f is -exp(-x) there, and E[t (f - f(0))] = -sd exp(-m + v / 2).
  for (const double m : {20.0, 51.7, 483.0, 163'127.0})
    for (const double sd : {0.05, 0.6, 1.5}) {
      INFO("m ", m, ", sd ", sd);
      const auto log_f = [&](double t) { return -std::log1p(std::exp(-(m + t * sd))); };
      const Tilted t = tilt(log_f);
      const double exact = sd * std::exp(-m + 0.5 * sd * sd);
      CHECK(t.found);
      CHECK(t.mean == oracle::relative(exact, 1e-6, 1));
      CHECK(t.log_mass == oracle::relative(-std::exp(-m + 0.5 * sd * sd), 1e-6, 1));
      CHECK(t.rho == oracle::relative(exact * sd, 1e-5, 1));
      const Tilted moved = tilt([&](double u) { return log_f(u) - 1e5; });  // a large constant hides it
      CHECK(std::abs(moved.mean) < 1e-9 + 2 * exact);
    }
}

TEST_CASE("tilted: the message of a factor of several variables in its far flat part is almost uniform") {
  const std::span<const double> none[kMostFree] = {};
  for (const std::size_t count : {2u, 3u})
    for (const double m : {20.0, 51.7}) {
      const auto f = [&](const double* t) {
        return -std::log1p(std::exp(-(m + 0.4 * t[0] + 0.3 * t[1] + (count == 3 ? 0.2 * t[2] : 0))));
      };
      const double square = 0.25 + (count == 3 ? 0.04 : 0), exact = 0.4 * std::exp(-m + 0.5 * square);
      const Tilted t = tilt_first(f, count, none);
      CHECK(t.mean == oracle::relative(exact, 1e-6));
      CHECK(t.rho == oracle::relative(exact * 0.4, 1e-5, 1));
    }
}

TEST_CASE("tilted: a linear log f moves the mean and counts nothing") {
  for (const double slope : {1e-5, 0.3, 4.0}) {
    const GaussianOrFallback message = tilted_message(tilt([=](double t) { return slope * t; }), kStandard);
    CHECK_FALSE(message.replaced);
    CHECK((kStandard * Gaussian(message)).mean() == oracle::relative(slope, 1e-5));
  }
}

TEST_CASE("tilted: several variables that f reads as a sum equal one variable that is the sum") {
  const double scales[] = {1, 0.5, 0.7};
  const auto of_sum = [](double x) { return 4 * x - std::exp(x); };
  for (const std::size_t count : {2u, 3u}) {
    double square = 0;
    for (std::size_t i = 0; i < count; ++i) square += scales[i] * scales[i];
    const auto f = [&](const double* t) {
      double x = 1;
      for (std::size_t i = 0; i < count; ++i) x += scales[i] * t[i];
      return of_sum(x);
    };
    const std::span<const double> none[kMostFree] = {};
    const Tilted t = tilt_first(f, count, none);
    const auto exact =
        oracle::matched([&](double x) { return std::exp(of_sum(x)); }, Gaussian::from_moments(1, square));
    CHECK(t.log_mass == oracle::relative(std::log(exact.mass), 1e-5));
    CHECK(t.mean == oracle::relative((exact.mean - 1) / square, 1e-4));
    CHECK(1 / (1 + t.rho) == oracle::relative(1 - (1 - exact.variance / square) / square, 1e-4));
  }
}

// Against b and c integrated out by hand: y = a b + c + N(0, s).
TEST_CASE("tilted: a product and a sum below Gaussian noise, with one mode or two, however little noise") {
  const std::span<const double> none[kMostFree] = {};
  for (const double s : {1.0, 0.1, 1e-4, 1e-12})
    for (const double mean : {0.0, 0.8})
      for (const std::size_t count : {2u, 3u}) {
        INFO("s ", s, ", mean ", mean, ", count ", count);
        const double y = 1.5, c_variance = count == 3 ? 0.3 : 0;
        const auto f = [&](const double* t) {
          const double off = y - (mean + t[0]) * (0.5 + 0.7 * t[1]) - (count == 3 ? std::sqrt(c_variance) * t[2] : 0);
          return -0.5 * off * off / s;
        };
        const Tilted found = tilt_first(f, count, none);
        const auto exact = oracle::matched(
            [&](double a) {
              const double v = s + a * a * 0.49 + c_variance, off = y - 0.5 * a;
              return std::sqrt(s / v) * std::exp(-0.5 * off * off / v);
            },
            Gaussian::from_moments(mean, 1));
        REQUIRE(found.found);
        CHECK(found.log_mass == oracle::relative(std::log(exact.mass), 1e-7));
        CHECK(mean + found.mean == oracle::relative(exact.mean, 1e-6));
        CHECK(1 / (1 + found.rho) == oracle::relative(exact.variance, 1e-6));
      }
}

// Against the trapezoidal rule on a fine grid.
TEST_CASE("tilted: factors of two variables that are skewed, curved, or have two peaks") {
  const std::span<const double> none[kMostFree] = {};
  const auto check = [&](const char* name, const auto& f) {
    CAPTURE(name);
    constexpr double kEnd = 9, kStep = 0.02;
    double mass = 0, first = 0, second = 0;
    for (double a = -kEnd; a < kEnd; a += kStep)
      for (double b = -kEnd; b < kEnd; b += kStep) {
        const double t[] = {a, b}, w = std::exp(f(t) - 0.5 * (a * a + b * b));
        mass += w, first += w * a, second += w * a * a;
      }
    const double mean = first / mass;
    const Tilted found = tilt_first(f, 2, none);
    REQUIRE(found.found);
    CHECK(found.log_mass == oracle::relative(std::log(mass * kStep * kStep / (2 * std::numbers::pi)), 1e-6));
    CHECK(found.mean == oracle::relative(mean, 1e-6));
    CHECK(1 / (1 + found.rho) == oracle::relative(second / mass - mean * mean, 1e-6));
  };
  check("Student's t",
        [](const double* t) { return -0.5 * t[1] - 2.5 * std::log1p((4 - t[0]) * (4 - t[0]) * std::exp(-t[1]) / 4); });
  check("a product", [](const double* t) { return -std::pow(1.2 - t[0] * (0.4 + t[1]), 4); });
  check("counts", [](const double* t) { return 5 * (t[0] + t[1]) - std::exp(t[0] + t[1]); });
  check("two peaks", [](const double* t) {
    const auto at = [&](double a, double b) { return -40 * (std::pow(t[0] - a, 2) + std::pow(t[1] - b, 2)); };
    return std::log(std::exp(at(2, 1)) + std::exp(at(-1, -2)) + 1e-300);
  });
}

// Student's t of the sum of two, which is sqrt(2) u, and a log scale: a sum over u and the scale.
TEST_CASE("tilted: a smooth factor of three variables is added up on a lattice, not one inside the other") {
  const std::span<const double> none[kMostFree] = {};
  const auto log_t = [](double sum, double scale) {
    return -0.5 * scale - 2.5 * std::log1p((1.5 - sum) * (1.5 - sum) * std::exp(-scale) / 4);
  };
  constexpr double kEnd = 9, kStep = 0.02;
  double mass = 0, first = 0, second = 0;
  for (double u = -kEnd; u < kEnd; u += kStep)
    for (double b = -kEnd; b < kEnd; b += kStep) {
      const double w = std::exp(log_t(std::numbers::sqrt2 * u, b) - 0.5 * (u * u + b * b));
      mass += w, first += w * u, second += w * u * u;
    }
  int evaluations = 0;
  const Tilted found = tilt_first([&](const double* t) { return ++evaluations, log_t(t[0] + t[2], t[1]); }, 3, none);
  const double mean = first / mass, variance = second / mass - mean * mean;
  CHECK(found.mean == oracle::relative(mean / std::numbers::sqrt2, 1e-5));
  CHECK(1 / (1 + found.rho) == oracle::relative(0.5 + 0.5 * variance, 1e-5));
  CHECK(evaluations < 100'000);  // nested integrals take eight million
}

TEST_CASE("tilted: a factor that is cut off along a diagonal is integrated one variable inside the other") {
  const std::span<const double> none[kMostFree] = {};
  const Tilted t = tilt_first([](const double* x) { return x[0] > x[1] ? 0.0 : -kInfinity; }, 2, none);
  // x1 - x2 ~ N(0, 2) is positive.
  CHECK(t.log_mass == oracle::relative(std::log(0.5), 1e-6));
  CHECK(t.mean == oracle::relative(1 / std::sqrt(std::numbers::pi), 1e-6));
  CHECK(1 / (1 + t.rho) == oracle::relative(1 - 1 / std::numbers::pi, 1e-6));
}
