// Exact messages by quadrature against closed forms.
#include "engine/certify/exact_message.h"

#include <doctest/doctest.h>

#include <cmath>

#include "engine/certify/sampling.h"
#include "factors/standard_registry.h"
#include "tests/oracles/relative.h"

namespace dma {

namespace {

Natural normal(double mean, double sd) { return Gaussian::from_moments(mean, sd * sd); }

// The tracing tolerance, with room for the accumulation over panels.
constexpr double kIntegralTolerance = 1e-7;

}  // namespace

TEST_CASE("exact message: a sum of Gaussians, both ways") {
  const Registry registry = standard_registry();
  const Kind& sum = registry.kind("sum");
  const Arrivals arrivals = {{normal(1, 1), normal(2, 0.5)}, {normal(3, 0.3)}};
  const std::vector<double> coefficients = {1, 2};
  const Curve total = trace_exact(sum, 1, 0, arrivals, coefficients).value();
  CHECK(total.proper);
  CHECK(total.mass == oracle::relative(1, kIntegralTolerance));
  CHECK(total.kl(Gaussian::from_moments(5, 1 + 4 * 0.25)) == doctest::Approx(0).epsilon(kIntegralTolerance));
  const Curve term = trace_exact(sum, 0, 0, arrivals, coefficients).value();
  CHECK(term.kl(Gaussian::from_moments(3 - 4, 0.09 + 4 * 0.25)) == doctest::Approx(0).epsilon(kIntegralTolerance));
}

TEST_CASE("exact message: the product's is proper forward and improper backward") {
  const Registry registry = standard_registry();
  const Kind& product = registry.kind("product");
  const Arrivals arrivals = {{normal(3, 1)}, {normal(4, 1)}, {normal(10, 2)}};
  const Curve forward = trace_exact(product, 2, 0, arrivals, {}).value();
  CHECK(forward.proper);
  CHECK(forward.mean() == oracle::relative(12, kIntegralTolerance));
  CHECK(forward.variance() == oracle::relative(1 + 9 + 16, kIntegralTolerance));
  CHECK_FALSE(trace_exact(product, 0, 0, arrivals, {})->proper);
}

TEST_CASE("exact message: the leaky rectifier's backward mass is P + Q / slope") {
  const Registry registry = standard_registry();
  const double slope = 0.1, p = 0.5 * std::erfc(-0.4 / std::sqrt(2.0));
  const Arrivals arrivals = {{Natural{}}, {normal(0.4, 1)}};
  const Curve x = trace_exact(registry.kind("leaky_relu"), 0, 0, arrivals, std::vector{slope}).value();
  CHECK(x.proper);
  CHECK(x.mass == oracle::relative(p + (1 - p) / slope, kIntegralTolerance));
}

TEST_CASE("exact message: a known output turns into a density of the input that is left") {
  const Registry registry = standard_registry();
  // 6 = x y, y ~ N(3, 0.1): x = 6 / y has density N(6/x; 3, 0.1) 6 / x^2... without the Jacobian of x, 1 / |x|.
  const Arrivals arrivals = {{normal(0, 1)}, {normal(3, 0.1)}, {Gaussian::point(6)}};
  const ExactMessage message = ExactMessage::make(registry.kind("product"), 0, 0, arrivals, {}).value();
  for (const double x : {1.9, 2.0, 2.1})
    CHECK(message(x) == oracle::relative(std::exp(log_density(Gaussian::from_moments(3, 0.01), 6 / x)) / x, 1e-6));
}

TEST_CASE("exact message: no integral if a needed arrival is uniform") {
  const Registry registry = standard_registry();
  const Arrivals arrivals = {{Natural{}}, {Natural{}}, {normal(1, 1)}};
  CHECK_FALSE(ExactMessage::make(registry.kind("product"), 0, 0, arrivals, {}).has_value());
  // The product gives no information on its factors.
  const Arrivals silent = {{normal(1, 1)}, {normal(2, 1)}, {Natural{}}};
  CHECK_FALSE(ExactMessage::make(registry.kind("product"), 0, 0, silent, {}).has_value());
}

TEST_CASE("sampling: the histogram's KL agrees with quadrature within its floor") {
  const Registry registry = standard_registry();
  const Kind& product = registry.kind("product");
  const Scenario scenario{{{normal(3, 1)}, {normal(4, 0.8)}, {normal(10, 2)}}, {}};
  const Gaussian belief = Gaussian::from_moments(2.7, 0.36), incoming(scenario.arrivals[0][0]);
  const WeightedSamples samples = sample_marginal(product, scenario, 0, 0, 200'000, 7);
  const double exact =
      trace_exact(product, 0, 0, scenario.arrivals, {}, {incoming, belief})->times(incoming).kl(belief);
  const double sampled = kl(histogram(samples, 100), belief);
  INFO("exact " << exact << ", sampled " << sampled);
  CHECK(std::abs(sampled - exact) < 0.01 + histogram_floor(100, samples.effective()));
}

}  // namespace dma
