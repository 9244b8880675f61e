#include "factors/arithmetic/product.h"

#include "factors/arithmetic/log_copy.h"
#include "factors/arithmetic/sum.h"
#include "tests/oracles/accuracy.h"

namespace dma {

TEST_CASE("product: message to z has the moments of Prop. 3.1") {
  oracle::check_accuracy("product to z", [](auto& random, const auto& range, auto& accuracy) {
    const Gaussian x = random.proper(range), y = random.proper(range);
    accuracy.compare(Product::to_z(x, y), oracle::product_to_z(x, y));
  });
}

TEST_CASE("product: message to a factor is that of Prop. 3.2") {
  oracle::check_accuracy("product to factor", [](auto& random, const auto& range, auto& accuracy) {
    const Gaussian other = random.proper(range), z = random.proper(range);
    accuracy.compare(Product::to_factor(other, z), oracle::product_to_factor(other, z));
  });
}

TEST_CASE("product: both messages are accurate at the corners of the far range, where some precisions underflow") {
  std::vector<Gaussian> corners;
  for (const double signal : {oracle::kFar.signal.low, 1.0, oracle::kFar.signal.high})
    for (const double variance : {oracle::kFar.variance.low, 1.0, oracle::kFar.variance.high})
      corners.emplace_back(signal / std::sqrt(variance), 1 / variance);
  oracle::Accuracy to_z, to_factor;
  for (const Gaussian& a : corners)
    for (const Gaussian& b : corners) {
      to_z.compare(Product::to_z(a, b), oracle::product_to_z(a, b));
      to_factor.compare(Product::to_factor(a, b), oracle::product_to_factor(a, b));
    }
  MESSAGE("worst errors: to z ", to_z.mean, " and ", to_z.variance, "; to factor ", to_factor.mean, " and ",
          to_factor.variance, ", ", to_factor.out_of_range, " below the double range");
  CHECK(std::max({to_z.mean, to_z.variance, to_factor.mean, to_factor.variance}) <= oracle::kFar.tolerance);
  CHECK(to_factor.out_of_range > 0);
}

TEST_CASE("product: message to z has the moments of x y by quadrature") {
  oracle::RandomMessages random(oracle::kSeed);
  for (int i = 0; i < 50; ++i) {
    const oracle::Range moderate{"moderate", {0.1, 5}, {0.1, 10}, 1e-10};
    const Gaussian x = random.proper(moderate), y = random.proper(moderate);
    const auto moment = [&](auto power) {
      return oracle::expectation(
          [&](double a) { return oracle::expectation([&](double b) { return power(Product::value(a, b)); }, y); }, x);
    };
    const double mean = moment([](double t) { return t; });
    const double variance = moment([&](double t) { return (t - mean) * (t - mean); });
    const Gaussian message = Product::to_z(x, y);
    CHECK(std::abs(message.mean() - mean) <= moderate.tolerance * message.sd());
    CHECK(message.variance() == oracle::relative(variance, moderate.tolerance));
  }
}

TEST_CASE("product: uniform messages and point masses to z") {
  const Gaussian proper = Gaussian::from_moments(3, 2), uniform, zero = Gaussian::point(0), two = Gaussian::point(2);
  CHECK(Product::to_z(uniform, zero) == zero);
  CHECK(Product::to_z(zero, uniform) == zero);
  CHECK(Product::to_z(uniform, two) == uniform);
  CHECK(Product::to_z(uniform, proper) == uniform);
  CHECK(Product::to_z(proper, uniform) == uniform);
  CHECK(Product::to_z(uniform, uniform) == uniform);
  CHECK(Product::to_z(proper, zero) == zero);
  CHECK(Product::to_z(two, two) == Gaussian::point(4));
  CHECK(Product::to_z(proper, two) == Product::to_z(two, proper));
  CHECK(Product::to_z(proper, two).mean() == oracle::relative(6, 1e-15));
  CHECK(Product::to_z(proper, two).variance() == oracle::relative(8, 1e-15));
}

TEST_CASE("product: uniform messages and point masses to a factor") {
  const Gaussian proper = Gaussian::from_moments(3, 2), uniform, zero = Gaussian::point(0), two = Gaussian::point(2);
  CHECK(Product::to_factor(zero, proper) == uniform);
  CHECK(Product::to_factor(zero, zero) == uniform);
  CHECK(Product::to_factor(uniform, proper) == uniform);
  CHECK(Product::to_factor(uniform, two) == uniform);
  CHECK(Product::to_factor(uniform, uniform) == uniform);
  CHECK(Product::to_factor(proper, uniform) == uniform);
  CHECK(Product::to_factor(two, uniform) == uniform);
  CHECK(Product::to_factor(Gaussian(0, 1), proper) == uniform);
  CHECK(Product::to_factor(two, Gaussian::point(3)) == Gaussian::point(1.5));
  CHECK(Product::to_factor(two, zero) == zero);
  CHECK(Product::to_factor(proper, zero) == zero);
  CHECK(Product::to_factor(two, proper).mean() == oracle::relative(1.5, 1e-15));
  CHECK(Product::to_factor(two, proper).variance() == oracle::relative(0.5, 1e-15));
}

TEST_CASE("product: a point mass is the limit of narrow Gaussians, in either place") {
  const Gaussian proper = Gaussian::from_moments(3, 2);
  const auto close = [](const Gaussian& a, const Gaussian& b) {
    return a.mean() == oracle::relative(b.mean(), 1e-9) && a.rho == oracle::relative(b.rho, 1e-9);
  };
  for (const double location : {2.0, -0.3}) {
    const Gaussian narrow = Gaussian::from_moments(location, 1e-11 * location * location);
    const Gaussian point = Gaussian::point(location);
    CHECK(close(Product::to_z(narrow, proper), Product::to_z(point, proper)));
    CHECK(close(Product::to_factor(narrow, proper), Product::to_factor(point, proper)));
    CHECK(close(Product::to_factor(proper, narrow), Product::to_factor(proper, point)));
  }
}

}  // namespace dma
