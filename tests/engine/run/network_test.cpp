// One example of the paper's Algorithm 1 (App. D) as plain nested loops, against forward_backward over the graph.
#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "engine/compile/compile.h"
#include "engine/run/run.h"
#include "factors/standard_registry.h"
#include "schedules/forward_backward.h"
#include "tests/oracles/messages_agree.h"
#include "tests/oracles/random_messages.h"

namespace {

using namespace dma;
using Numbers = std::vector<double>;

// Each weight message passes some 10^2 roundings, a few of them behind a subtraction of neighbouring sums.
constexpr double kNetworkError = 1e-9;
constexpr double kSlope = 0.1, kWeightVariance = 0.05, kNetworkNoise = 0.04;
const std::vector<std::size_t> kWidths{8, 6, 5, 1};

struct Moment {
  double mean = 0, variance = 0;
};
double phi(double t) { return std::exp(-0.5 * t * t) / std::sqrt(2 * std::acos(-1.0)); }
double Phi(double t) { return 0.5 * std::erfc(-t / std::sqrt(2.0)); }

// Props. 3.4, 3.5 and 3.2 as the paper prints them.
Moment relu_forward(Moment x) {
  const double sd = std::sqrt(x.variance), u = x.mean / sd, a = kSlope;
  const double mean = x.mean * (a + (1 - a) * Phi(u)) + (1 - a) * sd * phi(u);
  const double second =
      (x.mean * x.mean + x.variance) * (a * a + (1 - a * a) * Phi(u)) + (1 - a * a) * x.mean * sd * phi(u);
  return {mean, second - mean * mean};
}
Moment relu_backward(Moment y) {
  const double m = y.mean, v = y.variance, sd = std::sqrt(v), w = m / sd, a = kSlope, p = Phi(w), q = Phi(-w);
  const double c = a * p + q;
  const double mean = (m * (a * a * p + q) + (a * a - 1) * sd * phi(w)) / (a * c);
  const double second = ((m * m + v) * (a * a * a * p + q) + (a * a * a - 1) * m * sd * phi(w)) / (a * a * c);
  return {mean, second - mean * mean};
}
Gaussian product_backward(Moment z, Moment y) {
  if (y.variance == 0) return {z.mean * y.mean / z.variance, y.mean * y.mean / z.variance};
  const double ty = y.mean / y.variance, ry = 1 / y.variance, tz = z.mean / z.variance, rz = 1 / z.variance;
  const double r = ty * ty * ty * ty * rz / (ry * (ty * ty + ry));
  const double d = tz * tz * ry + ty * ty * rz + ry * rz;
  return {ty * r * tz / d, r * r / d};
}

// The messages to the weights of every layer, i * fan_in + j.
std::vector<std::vector<Gaussian>> algorithm_1(const Numbers& input, double target,
                                               const std::vector<Numbers>& prior_means) {
  const std::size_t layers = kWidths.size() - 1;
  std::vector<std::vector<Moment>> x(layers + 1), z(layers + 1), products(layers + 1);
  for (const double value : input) x[0].push_back({value, 0});
  for (std::size_t l = 1; l <= layers; ++l)
    for (std::size_t i = 0; i < kWidths[l]; ++i) {
      Moment sum;
      for (std::size_t j = 0; j < kWidths[l - 1]; ++j) {
        const Moment w{prior_means[l - 1][i * kWidths[l - 1] + j], kWeightVariance}, a = x[l - 1][j];
        products[l].push_back(
            {w.mean * a.mean, w.variance * a.mean * a.mean + a.variance * w.mean * w.mean + w.variance * a.variance});
        sum.mean += products[l].back().mean;
        sum.variance += products[l].back().variance;
      }
      z[l].push_back(sum);
      x[l].push_back(relu_forward(sum));
    }
  std::vector<std::vector<Gaussian>> to_weights(layers);
  std::vector<Moment> backward{{target, kNetworkNoise}};
  for (std::size_t l = layers; l >= 1; --l) {
    const std::size_t fan_in = kWidths[l - 1];
    std::vector<Gaussian> to_x(fan_in);
    for (std::size_t i = 0; i < kWidths[l]; ++i)
      for (std::size_t j = 0; j < fan_in; ++j) {
        const Moment own = products[l][i * fan_in + j];
        const Moment cavity{backward[i].mean - z[l][i].mean + own.mean,
                            backward[i].variance + z[l][i].variance - own.variance};
        to_weights[l - 1].push_back(product_backward(cavity, x[l - 1][j]));
        to_x[j] = to_x[j] * product_backward(cavity, {prior_means[l - 1][i * fan_in + j], kWeightVariance});
      }
    backward.clear();
    for (const Gaussian& g : to_x) backward.push_back(relu_backward({g.mean(), g.variance()}));
  }
  return to_weights;
}

}  // namespace

TEST_CASE("network: forward_backward over 8-6-5-1 equals Algorithm 1 for one example, fused and not") {
  const std::size_t layers = kWidths.size() - 1;
  oracle::RandomMessages random(5);
  Graph g;
  std::vector<FactorId> products;
  std::vector<Numbers> prior_means;
  const auto input = g.observed("input", kWidths[0]), y = g.observed("y");
  VariableId below = input;
  for (std::size_t l = 1; l <= layers; ++l) {
    const std::size_t n = kWidths[l], m = kWidths[l - 1];
    const auto w = g.variable("", n * m), p = g.variable("", n * m), z = g.variable("", n);
    prior_means.emplace_back();
    for (std::size_t i = 0; i < n * m; ++i) prior_means.back().push_back(random.sign() * random.log_uniform({0.05, 1}));
    g.factor("gaussian_prior", {w}, {{"mean", prior_means.back()}, {"variance", kWeightVariance}});
    products.push_back(g.factor("product", {w, column(below), p}));
    g.factor("sum", {p, z});
    below = z;
    if (l == layers) break;
    below = g.variable("", n);
    g.factor("leaky_relu", {z, below}, {{"slope", kSlope}});
  }
  g.factor("gaussian_noise", {below, y}, {{"variance", kNetworkNoise}});

  Numbers values;
  for (std::size_t j = 0; j < kWidths[0]; ++j)
    values.push_back(j == 0 ? 1.0 : random.sign() * random.log_uniform({0.2, 2}));
  const auto truth = algorithm_1(values, 0.8, prior_means);
  for (const bool fuse : {true, false}) {
    const Plan plan = compile(g, forward_backward(), standard_registry(), {.fuse = fuse});
    State state(plan);
    state.observe(input, values);
    state.observe(y, 0.8);
    CHECK(run(plan, state).faults == 0);
    double worst = 0;
    for (std::size_t l = 0; l < layers; ++l) {
      const auto found = state.messages(products[l], "x");
      REQUIRE(found.size() == truth[l].size());
      for (std::size_t i = 0; i < found.size(); ++i) worst = std::max(worst, oracle::distance(truth[l][i], found[i]));
    }
    MESSAGE(std::string(fuse ? "fused" : "unfused"), ": worst weight message off by ", worst, ", seed 5");
    CHECK(worst <= kNetworkError);
  }
}
