#include "factors/arithmetic/exponential.h"

#include <cmath>

#include "engine/kinds/kind.h"
#include "factors/authoring/belief_linearisation.h"

namespace dma {

namespace {

LinearisedFunction fit(const InputVector& mean, const InputMatrix& covariance) {
  const double v = covariance(0, 0), e = std::exp(mean(0) + 0.5 * v);
  return {.value = e, .noise = e * e * Exponential::excess(v), .gains = InputVector::Constant(1, e)};
}

}  // namespace

double Exponential::excess(double v) {
  constexpr double kSmall = 0.3;  // above it less than one digit cancels; below it the series has converged to 1e-17
  constexpr int kTerms = 14;
  if (std::abs(v) > kSmall) return std::expm1(v) - v;
  double sum = 1;
  for (int n = kTerms; n > 2; --n) sum = 1 + v / n * sum;
  return 0.5 * v * v * sum;
}

Gaussian Exponential::to_y(const Gaussian& x) { return fitted_to_output(&fit, {&x, 1}); }
// If y is known to be 0 or negative, no x fits: the message is not a number, which the engine refuses and counts.
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

Kind exponential_kind() {
  return kind("exponential", "y = exp(x)")
      .input("x")
      .output("y")
      .observes("y", above(0) & finite())
      .function([](auto v, auto) { return Exponential::value(v[0]); })
      .linear_view(&Exponential::linear_view)
      .message<&Exponential::to_y>(kLinearisedMethod, "y")
      .message<&Exponential::to_x>(kLinearisedMethod, "x", from("x", "y"));
}

}  // namespace dma
