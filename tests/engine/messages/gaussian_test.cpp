#include "engine/messages/gaussian.h"

#include "tests/oracles/accuracy.h"

namespace dma {
namespace {

const oracle::Range kModerate{"moderate", {0.01, 4}, {0.1, 10}, 1e-10};

// One of each kind, and the corners of the double range.
const std::vector<Gaussian> kEveryKind = {Gaussian::uniform(),      Gaussian::point(0),      Gaussian::point(-2),
                                          Gaussian::point(1e300),   Gaussian(0, 1),          Gaussian(1, 2),
                                          Gaussian(-3, 0.5),        Gaussian(1e300, 1e300),  Gaussian(1e300, 1e-300),
                                          Gaussian(-1e300, 1e-300), Gaussian(1e-300, 1e300), Gaussian(0, 1e-307),
                                          Gaussian(0, 1e307),       Gaussian(1e-300, 5e-324)};

const std::vector<double> kPlaces = {0, 1, -2, 1e-300, 1e300, -1e300};

}  // namespace

TEST_CASE("gaussian: moments there and back, with 0 and infinite variance at the ends") {
  const Gaussian g = Gaussian::from_moments(-3, 0.25);
  CHECK(g == Gaussian(-12, 4));
  CHECK(g.mean() == -3);
  CHECK(g.variance() == 0.25);
  CHECK(g.sd() == 0.5);
  CHECK(Gaussian::from_moments(5, 0) == Gaussian::point(5));
  CHECK(Gaussian::from_moments(5, kInfinity) == Gaussian::uniform());
  CHECK(Gaussian::point(5).mean() == 5);
  CHECK(Gaussian::point(5).variance() == 0);
  CHECK(Gaussian::uniform().mean() == 0);
  CHECK(Gaussian::uniform().variance() == kInfinity);
}

TEST_CASE("gaussian: natural parameters that leave the double range become uniform or a point mass") {
  CHECK(closed(1, 2, 0.5) == Gaussian(1, 2));
  CHECK(closed(0, 0, 7) == Gaussian::uniform());
  CHECK(closed(kInfinity, 1e200, 1e150) == Gaussian::point(1e150));
  CHECK(closed(kInfinity, kInfinity, 3) == Gaussian::point(3));
  CHECK(closed(1e300, 1e-300, kInfinity) == Gaussian(1e300, 1e-300));
  CHECK(closed(kInfinity, 1, kInfinity) == Gaussian::uniform());
  CHECK(Gaussian::from_moments(1e200, 1e-200) == Gaussian::point(1e200));
  CHECK(Gaussian::from_moments(kInfinity, 1) == Gaussian::uniform());
}

TEST_CASE("gaussian: scaling multiplies the mean and the standard deviation") {
  CHECK(scaled(Gaussian::from_moments(3, 2), -2) == Gaussian::from_moments(-6, 8));
  CHECK(scaled(Gaussian::from_moments(3, 2), 0) == Gaussian::point(0));
  CHECK(scaled(Gaussian::uniform(), 0) == Gaussian::point(0));
  CHECK(scaled(Gaussian::uniform(), -2) == Gaussian::uniform());
  CHECK(scaled(Gaussian::point(3), -2) == Gaussian::point(-6));
  CHECK(scaled(Gaussian::point(1e300), 1e300) == Gaussian::uniform());
}

TEST_CASE("gaussian: a point mass absorbs products, and divided by itself is uniform") {
  const Gaussian point = Gaussian::point(2);
  for (const Gaussian& g : kEveryKind) {
    CHECK(point * g == point);
    if (!g.is_point()) CHECK(g * point == point);
    if (!g.is_point()) CHECK(point / g == point);
    CHECK(g / point == Gaussian::uniform());
  }
}

TEST_CASE("gaussian: kl keeps its digits for nearly equal and for very different precisions") {
  using oracle::Real;
  for (const double ratio : {1e-200, 1e-20, 1e-3, 0.4, 0.6, 0.99, 1 - 1e-9, 1 + 1e-9, 1.02, 1.6, 1e3, 1e20, 1e200}) {
    const Gaussian p(0, 3), q(0, 3 * ratio);
    const Real exact_ratio = Real(q.rho) / Real(p.rho);
    CAPTURE(ratio);
    CHECK(oracle::relative_error(kl(p, q), (exact_ratio - 1 - log(exact_ratio)) / 2) < 1e-13);
  }
}

TEST_CASE("gaussian: kl is 0 only between equals, and infinite without a common density") {
  const Gaussian proper(1, 2), uniform, point = Gaussian::point(1);
  for (const Gaussian& g : {proper, uniform, point}) CHECK(kl(g, g) == 0);
  CHECK(kl(proper, uniform) == kInfinity);
  CHECK(kl(uniform, proper) == kInfinity);
  CHECK(kl(point, proper) == kInfinity);
  CHECK(kl(proper, point) == kInfinity);
  CHECK(kl(point, Gaussian::point(2)) == kInfinity);
}

TEST_CASE("gaussian: log overlap equals the log of the integral of p q") {
  oracle::RandomMessages random(oracle::kSeed);
  for (int i = 0; i < 100; ++i) {
    const Gaussian p = random.proper(kModerate), q = random.proper(kModerate);
    // Integrated under the narrower one, so that the other is smooth on the scale of the rule.
    const Gaussian& narrow = p.rho > q.rho ? p : q;
    const Gaussian& wide = p.rho > q.rho ? q : p;
    const double log_peak = log_overlap(p, q);
    CHECK(oracle::expectation([&](double x) { return std::exp(log_density(wide, x) - log_peak); }, narrow) ==
          oracle::relative(1, 1e-7));
  }
  CHECK(log_overlap(Gaussian::point(2), Gaussian(1, 2)) == log_density(Gaussian(1, 2), 2));
  CHECK(log_overlap(Gaussian(0, 1e-307), Gaussian(0, 1e-307)) == doctest::Approx(log_density(Gaussian(0, 5e-308), 0)));
}

TEST_CASE("gaussian: every function is a number on every kind of message") {
  for (const Gaussian& a : kEveryKind) {
    INFO("a.tau ", a.tau, ", a.rho ", a.rho);
    CHECK(is_valid(a));
    CHECK_FALSE(std::isnan(a.mean()));
    CHECK(a.variance() >= 0);
    CHECK(a.sd() >= 0);
    for (const double x : kPlaces) {
      CHECK_FALSE(std::isnan(log_density(a, x)));
      CHECK(is_valid(scaled(a, x)));
    }
    for (const Gaussian& b : kEveryKind) {
      CHECK(is_valid(a * b));
      CHECK_FALSE(std::isnan((a / b).rho));
      CHECK_FALSE(std::isnan((a / b).tau));
      CHECK(kl(a, b) >= 0);
      CHECK_FALSE(std::isnan(log_overlap(a, b)));
    }
  }
}

}  // namespace dma
