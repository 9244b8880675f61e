#include <boost/math/quadrature/gauss.hpp>

#include "factors/arithmetic/product_ep.h"
#include "factors/arithmetic/product_linearised.h"
#include "factors/arithmetic/vmp.h"
#include "tests/oracles/random_messages.h"
#include "tests/oracles/solved.h"

namespace {

constexpr std::uint64_t kProductSeed = 11;

// The marginal of x, wherever it lies: its logarithm is evaluated at points around the means of x and z / y and around
// 0, at distances from 1e-6 to 1e9 of every scale; every peak among them is refined and gets such points too. Integrals
// are sums over Gauss nodes between these points, with weights computed once.
struct WideMarginal {
  struct Node {
    double at, weight;
  };
  std::vector<Node> nodes;
  Gaussian x, y, z;

  double log_weight(double a) const {
    const double v = z.variance() + a * a * y.variance(), off = z.mean() - a * y.mean();
    return -0.5 * ((a - x.mean()) * (a - x.mean()) * x.rho + std::log(v) + off * off / v);
  }
  void add_around(double centre, std::vector<double>& points) const {
    points.push_back(centre);
    for (const double scale : {x.sd(), std::sqrt(z.variance() / y.variance()), std::abs(centre)})
      for (int k = -30; k <= 45; ++k) {
        const double step = scale * std::pow(10, 0.2 * k);
        points.push_back(centre - step), points.push_back(centre + step);
      }
  }
  std::vector<double> logs(std::vector<double>& points) const {
    std::ranges::sort(points);
    const auto again = std::ranges::unique(points);
    points.erase(again.begin(), again.end());
    std::vector<double> all;
    for (const double a : points) all.push_back(log_weight(a));
    return all;
  }
  double climbed(double low, double high) const {
    for (int k = 0; k < 80; ++k) {
      const double a = low + 0.381966 * (high - low), b = low + 0.618034 * (high - low);
      (log_weight(a) > log_weight(b) ? high : low) = log_weight(a) > log_weight(b) ? b : a;
    }
    return low;
  }
  WideMarginal(const Gaussian& from_x, const Gaussian& from_y, const Gaussian& from_z)
      : x(from_x), y(from_y), z(from_z) {
    constexpr double kDepth = 60;  // nats below the highest peak beyond which the mass is negligible
    std::vector<double> points, tops;
    for (const double centre : {x.mean(), z.mean() / y.mean(), 0.0}) add_around(centre, points);
    std::vector<double> heights = logs(points);
    double top = std::ranges::max(heights);
    for (std::size_t i = 1; i + 1 < points.size(); ++i) {
      if (heights[i] < std::max(heights[i - 1], heights[i + 1])) continue;
      const double at = climbed(points[i - 1], points[i + 1]);
      // Rounding splits a peak: peaks within a millionth of the least width are the same.
      const double near = 1e-6 * (std::abs(at) + std::min(x.sd(), std::sqrt(z.variance() / y.variance())));
      if (tops.empty() || at - tops.back() > near) tops.push_back(at);
      top = std::max(top, log_weight(at));
    }
    for (const double at : tops)
      if (log_weight(at) > top - kDepth) add_around(at, points);
    heights = logs(points);
    using Gauss15 = boost::math::quadrature::gauss<double, 15>;
    for (std::size_t i = 0; i + 1 < points.size(); ++i) {
      if (std::max(heights[i], heights[i + 1]) < top - kDepth) continue;
      const double centre = 0.5 * (points[i] + points[i + 1]), half = 0.5 * (points[i + 1] - points[i]);
      for (std::size_t k = 0; k < Gauss15::abscissa().size(); ++k)
        for (const int side : {-1, 1}) {
          if (k == 0 && side < 0) continue;  // visit the middle once
          const double at = centre + side * half * Gauss15::abscissa()[k];
          nodes.push_back({at, half * Gauss15::weights()[k] * std::exp(log_weight(at) - top)});
        }
    }
  }
  template <class F>
  double integral(const F& f) const {
    double sum = 0;
    for (const Node& node : nodes) sum += f(node.at) * node.weight;
    return sum;
  }
};

}  // namespace

TEST_CASE("product ep: the marginal is found where it is, far from what arrives and with several tops") {
  constexpr double kError = 1e-9;  // error of the belief, in its own standard deviations
  const auto check = [&](const Gaussian& x, const Gaussian& y, const Gaussian& z) {
    INFO("x.mean() ", x.mean(), ", x.variance() ", x.variance(), ", y.mean() ", y.mean(), ", y.variance() ",
         y.variance(), ", z.mean() ", z.mean(), ", z.variance() ", z.variance());
    const WideMarginal marginal(x, y, z);
    const double mass = marginal.integral([](double) { return 1.0; });
    const double mean = marginal.integral([](double a) { return a; }) / mass;
    const double variance = marginal.integral([&](double a) { return (a - mean) * (a - mean); }) / mass;
    const Gaussian message = ProductEp::to_factor(x, y, z), belief(message.tau + x.tau, message.rho + x.rho);
    CHECK(std::abs(belief.variance() / variance - 1) < kError);
    CHECK(std::abs(belief.mean() - mean) < kError * std::sqrt(variance) + 1e-13 * std::abs(mean));
    const auto z_given = [&](double a) { return z * Gaussian::from_moments(a * y.mean(), a * a * y.variance()); };
    const double z_mean = marginal.integral([&](double a) { return z_given(a).mean(); }) / mass;
    const double z_variance = marginal.integral([&](double a) {
      const Gaussian g = z_given(a);
      return g.variance() + (g.mean() - z_mean) * (g.mean() - z_mean);
    }) / mass;
    const Gaussian to_z = ProductEp::to_z(x, y, z), z_belief(to_z.tau + z.tau, to_z.rho + z.rho);
    CHECK(std::abs(z_belief.variance() / z_variance - 1) < kError);
    CHECK(std::abs(z_belief.mean() - z_mean) < kError * std::sqrt(z_variance) + 1e-13 * std::abs(z_mean));
  };
  const Gaussian one = Gaussian::from_moments(1, 0.01);
  check(one, one, Gaussian::from_moments(6, 0.01));
  const Gaussian far = ProductEp::to_factor(one, one, Gaussian::from_moments(6, 0.01));
  CHECK((far * one).mean() == oracle::relative(2.330, 0.001));
  CHECK((far * one).sd() == oracle::relative(0.060, 0.01));
  check(Gaussian::from_moments(0, 1), Gaussian::from_moments(2, 1e-10), Gaussian::from_moments(0.6, 1e-6));
  // Two peaks.
  check(Gaussian::from_moments(0.01, 4), Gaussian::from_moments(0.02, 4), Gaussian::from_moments(30, 0.1));
  check(Gaussian::from_moments(-3, 1), Gaussian::from_moments(5, 0.01), Gaussian::from_moments(40, 0.01));
  oracle::RandomMessages random(kProductSeed);
  const oracle::Range wide{"wide", {1e-2, 1e3}, {1e-4, 1e4}, 0};
  for (int i = 0; i < 300; ++i) {
    const Gaussian x = random.proper(wide), y = random.proper(wide), z = random.proper(wide);
    check(x, y, z);
  }
}

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

TEST_CASE("product vmp: every message is a point mass") {
  const Gaussian y = Gaussian::from_moments(2, 1), z = Gaussian::from_moments(6, 3);
  CHECK(ProductVmp::to_z(y, z) == Gaussian::point(12));
  CHECK(ProductVmp::to_factor(y, z) == Gaussian::point(6 * 2 / 5.0));
  CHECK(ProductVmp::to_factor({}, z).is_uniform());
}
