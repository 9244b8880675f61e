#include "factors/arithmetic/exponential.h"

#include <cmath>

#include "factors/authoring/belief_linearisation.h"

namespace dma {

namespace {

// exp(v) - 1 - v
double excess(double v) {
  constexpr double kSmall = 1e-2;  // below it, three terms of the series; above it, at most 4 digits cancel
  return v < kSmall ? 0.5 * v * v * (1 + v / 3 * (1 + v / 4 * (1 + v / 5 * (1 + v / 6)))) : std::expm1(v) - v;
}

LinearisedFunction fit(const InputVector& mean, const InputMatrix& covariance) {
  const double v = covariance(0, 0), e = std::exp(mean(0) + 0.5 * v);
  return {.value = e, .noise = e * e * excess(v), .gains = InputVector::Constant(1, e)};
}

}  // namespace

Gaussian Exponential::to_y(const Gaussian& x) { return fitted_to_output(&fit, {&x, 1}); }
// Known to be 0 or less, y has no x: a message that is not a number, which the engine refuses and counts.
Gaussian Exponential::to_x(const Gaussian& x, const Gaussian& y) {
  if (y.is_point() && !(y.mean() > 0)) return Gaussian(std::nan(""), std::nan(""));
  return fitted_to_input(&fit, 0, {&x, 1}, y);
}

void Exponential::linear_view(const LinearCall& call) {
  for (std::size_t s = 0; s < call.slots; ++s) {
    const double e = std::exp(call.input(0)[s] + (call.variances == nullptr ? 0 : 0.5 * call.variances[s]));
    call.value[s] = e;
    if (call.gains != nullptr) call.gain(0)[s] = e;
    if (call.variance_gains != nullptr) call.variance_gains[s] = 0.5 * e;
  }
}

}  // namespace dma
