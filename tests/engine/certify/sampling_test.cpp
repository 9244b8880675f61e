// Importance samples against integrals on a grid and against the conjugate answer.
#include "engine/certify/sampling.h"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>

#include "factors/arithmetic/leaky_relu.h"
#include "factors/standard_registry.h"

namespace dma {

namespace {

constexpr int kSamples = 100'000;
constexpr double kSamplingError =
    0.02;  // several standard errors of a mean or variance of order 1 from this many samples
constexpr std::uint64_t kSamplingSeed = 3;

struct GridMoments {
  double mean, variance;
};
GridMoments by_grid(const std::function<double(double)>& density, const std::function<double(double)>& value) {
  constexpr int kCells = 20'000;
  double mass = 0, first = 0, second = 0;
  for (int i = 0; i < kCells; ++i) {
    const double x = -12 + 24.0 * (i + 0.5) / kCells, p = density(x), v = value(x);
    mass += p, first += p * v, second += p * v * v;
  }
  return {first / mass, second / mass - first / mass * (first / mass)};
}

}  // namespace

TEST_CASE("sampling: a draw has the weight of the message on the output") {
  const Registry registry = standard_registry();
  const Kind& kind = registry.kind("leaky_relu");
  const LeakyRelu::Parameters slope{0.3};
  const Gaussian x = Gaussian::from_moments(-0.5, 2), y = Gaussian::from_moments(1, 0.5);
  const Scenario scenario{{{x}, {y}}, {slope.slope}};
  const auto density = [&](double v) {
    return std::exp(log_density(x, v) + log_density(y, LeakyRelu::value(v, slope)));
  };
  const GridMoments of_x = by_grid(density, [](double v) { return v; });
  const GridMoments of_y = by_grid(density, [&](double v) { return LeakyRelu::value(v, slope); });
  const WeightedSamples to_x = sample_marginal(kind, scenario, kind.port("x"), 0, kSamples, kSamplingSeed);
  const WeightedSamples to_y = sample_marginal(kind, scenario, kind.port("y"), 0, kSamples, kSamplingSeed);
  CHECK(std::abs(to_x.mean() - of_x.mean) < kSamplingError);
  CHECK(std::abs(to_x.variance() - of_x.variance) < kSamplingError);
  CHECK(std::abs(to_y.mean() - of_y.mean) < kSamplingError);
  CHECK(std::abs(to_y.variance() - of_y.variance) < kSamplingError);
}

TEST_CASE("sampling: for a density, a draw of all ports has the weight of the density there") {
  const Registry registry = standard_registry();
  const Kind& kind = registry.kind("gaussian_noise");
  const Gaussian first = Gaussian::from_moments(1, 2), second = Gaussian::from_moments(2.5, 0.4);
  const double noise = 0.7;
  const Scenario scenario{{{first}, {second}}, {noise}};
  const Gaussian belief = first * Gaussian::from_moments(second.mean(), second.variance() + noise);
  const WeightedSamples samples = sample_marginal(kind, scenario, 0, 0, kSamples, kSamplingSeed);
  CHECK(std::abs(samples.mean() - belief.mean()) < kSamplingError);
  CHECK(std::abs(samples.variance() - belief.variance()) < kSamplingError);
  CHECK(samples.effective() < kSamples);
  CHECK(samples.effective() > 0.1 * kSamples);
}

TEST_CASE("histogram: samples that are all equal fill one bin") {
  const Histogram h = histogram({{2, 2, 2}, {1, 1, 1}}, 10);
  CHECK(h.fraction.front() == 1);
}

TEST_CASE("histogram: it is that of its samples, for any source") {
  WeightedSamples samples;
  samples.x = {0, 1, 2, 3, 1.5}, samples.weight = {1, 1, 1, 1, 100};
  samples.x.pop_back(), samples.weight.pop_back();
  const Histogram h = histogram(samples, 4);
  for (const double fraction : h.fraction) CHECK(fraction == 0.25);
}

}  // namespace dma
