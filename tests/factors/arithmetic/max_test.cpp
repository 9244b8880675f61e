#include "factors/arithmetic/max.h"

#include <doctest/doctest.h>

#include "engine/kinds/evaluate.h"
#include "factors/standard_registry.h"
#include "tests/oracles/quadrature.h"
#include "tests/oracles/relative.h"

namespace {

using namespace dma;

// E[h(x1, x2)] by nested quadrature, split at x1 = x2.
template <class H>
double expectation(const H& h, const Gaussian& x1, const Gaussian& x2) {
  return oracle::expectation([&](double b) { return oracle::expectation([&](double a) { return h(a, b); }, x1, b); },
                             x2);
}

}  // namespace

TEST_CASE("max: Clark's moments are those of quadrature, and the fit is the best one") {
  for (const double mean : {-2.0, 0.1, 4.0}) {
    const Gaussian x1 = Gaussian::from_moments(mean, 1.5), x2 = Gaussian::from_moments(0.4, 0.6);
    const double e = expectation([](double a, double b) { return std::max(a, b); }, x1, x2);
    const double v = expectation([&](double a, double b) { return std::pow(std::max(a, b) - e, 2); }, x1, x2);
    CHECK(Max::to_y(x1, x2).mean() == oracle::relative(e, 1e-8));
    CHECK(Max::to_y(x1, x2).variance() == oracle::relative(v, 1e-7));
    // A y so vague that the belief is the arriving message: message to x1 of the linear fit under it.
    const Gaussian y = Gaussian::from_moments(1, 1e8);
    const double gain = expectation([&](double a, double b) { return (a - mean) * std::max(a, b); }, x1, x2) / 1.5;
    const Gaussian to_x1 = Max::to_x(x1, x2, y);
    CHECK(to_x1.variance() == oracle::relative((1e8 + v - gain * gain * 1.5) / (gain * gain), 1e-6));
    CHECK(to_x1.mean() == oracle::relative(mean + (1 - e) / gain, 1e-6));
  }
}

TEST_CASE("max: the larger one equals y, the smaller one learns almost nothing") {
  const Gaussian high = Gaussian::from_moments(5, 1), low = Gaussian::from_moments(-5, 1),
                 y = Gaussian::from_moments(6, 0.01);
  CHECK(Max::to_x(high, low, y).mean() == oracle::relative(6, 1e-6));
  CHECK(Max::to_x(high, low, y).variance() == oracle::relative(0.01, 1e-4));
  CHECK(Max::to_x(low, high, y).rho < 1e-10);
}

TEST_CASE("max: the linear view is value and derivatives of the expected value") {
  const Registry registry = standard_registry();
  const LinearView& view = registry.kind("max").linear_view();
  const LinearView plain = numerical_linear_view(registry.kind("max").function());
  const double values[] = {0.3, 0.8}, variances[] = {0.5, 0.2};
  double value, gains[2], variance_gains[2];
  LinearCall call{.slots = 1,
                  .inputs = 2,
                  .values = values,
                  .variances = variances,
                  .value = &value,
                  .gains = gains,
                  .variance_gains = variance_gains};
  view(call);
  const auto at = [&](double m1, double m2, double v1, double v2) {
    return Max::to_y(Gaussian::from_moments(m1, v1), Gaussian::from_moments(m2, v2)).mean();
  };
  constexpr double kStep = 1e-5;
  CHECK(value == doctest::Approx(at(0.3, 0.8, 0.5, 0.2)));
  CHECK(gains[0] ==
        oracle::relative((at(0.3 + kStep, 0.8, 0.5, 0.2) - at(0.3 - kStep, 0.8, 0.5, 0.2)) / (2 * kStep), 1e-6));
  CHECK(gains[1] ==
        oracle::relative((at(0.3, 0.8 + kStep, 0.5, 0.2) - at(0.3, 0.8 - kStep, 0.5, 0.2)) / (2 * kStep), 1e-6));
  CHECK(variance_gains[1] ==
        oracle::relative((at(0.3, 0.8, 0.5, 0.2 + kStep) - at(0.3, 0.8, 0.5, 0.2 - kStep)) / (2 * kStep), 1e-6));
  call.variances = nullptr;
  view(call);
  double plain_value, plain_gains[2];
  plain({.slots = 1, .inputs = 2, .values = values, .value = &plain_value, .gains = plain_gains});
  CHECK(value == plain_value);
  CHECK(gains[0] == doctest::Approx(plain_gains[0]));
}
