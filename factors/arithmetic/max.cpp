#include "factors/arithmetic/max.h"

#include <array>

#include "engine/kinds/kind.h"
#include "factors/authoring/belief_linearisation.h"
#include "factors/authoring/normal.h"

namespace dma {

namespace {

struct Larger {
  double value, gain, density;  // E[max] and Phi(d), Phi of the first; phi(d) / s
};

Larger larger(double first, double second, double variance) {
  const double s = std::sqrt(std::max(0.0, variance)), off = first - second;
  if (!(s > 0)) return {std::max(first, second), off > 0 ? 1.0 : off < 0 ? 0.0 : 0.5, 0};
  const double d = off / s, gain = normal::distribution(d), density = normal::density(d);
  // Start from the larger mean: the other variable's contribution is positive.
  const double beyond = s * (density - std::abs(d) * normal::distribution(-std::abs(d)));
  return {std::max(first, second) + std::max(0.0, beyond), gain, density / s};
}

LinearisedFunction fit_max(const InputVector& m, const InputMatrix& c) {
  const double spread = c(0, 0) + c(1, 1) - 2 * c(0, 1);
  const Larger y = larger(m(0), m(1), spread);
  const double p = y.gain, q = 1 - p;
  InputVector gains(2);
  gains << p, q;
  // Var[y] - gains' C gains about the smaller mean: with u = x1 - x2, y = x2 + max(u, 0), and the fit of max(u, 0) has
  // gain p, so only its own residual remains.
  const double s = std::sqrt(std::max(0.0, spread));
  if (!(s > 0)) return {.value = y.value, .noise = 0, .gains = gains};
  const double d = -std::abs(m(0) - m(1)) / s;
  const normal::Tail beyond = normal::tail(-d);
  const double fraction = beyond.probability, residual = normal::rectified_variance(beyond) - fraction * fraction;
  return {.value = y.value, .noise = spread * std::max(0.0, residual), .gains = gains};
}

}  // namespace

Gaussian Max::to_y(const Gaussian& x1, const Gaussian& x2) {
  const std::array<Gaussian, 2> x{x1, x2};
  return fitted_to_output(&fit_max, x);
}

Gaussian Max::to_x(const Gaussian& own, const Gaussian& other, const Gaussian& y) {
  const std::array<Gaussian, 2> x{own, other};
  return fitted_to_input(&fit_max, 0, x, y);
}

void Max::linear_view(const LinearCall& call) {
  const double *const x1 = call.input(0), *const x2 = call.input(1);
  for (std::size_t s = 0; s < call.slots; ++s) {
    const Larger y =
        larger(x1[s], x2[s], call.variances == nullptr ? 0 : call.variances[s] + call.variances[call.slots + s]);
    call.value[s] = y.value;
    if (call.gains != nullptr) {
      call.gain(0)[s] = y.gain;
      call.gain(1)[s] = 1 - y.gain;
    }
    if (call.variance_gains != nullptr) call.variance_gains[s] = call.variance_gains[call.slots + s] = 0.5 * y.density;
  }
}

Kind max_kind() {
  return kind("max", "y = max(x1, x2)")
      .input("x1")
      .input("x2")
      .output("y")
      .function([](auto v, auto) { return Max::value(v[0], v[1]); })
      .linear_view(&Max::linear_view)
      .message<&Max::to_y>(kLinearisedMethod, "y")
      .message<&Max::to_x>(kLinearisedMethod, "x1", from("x1", "x2", "y"))
      .message<&Max::to_x>(kLinearisedMethod, "x2", from("x2", "x1", "y"));
}

}  // namespace dma
