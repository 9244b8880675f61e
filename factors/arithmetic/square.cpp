#include "factors/arithmetic/square.h"

#include "engine/kinds/kind.h"
#include "factors/authoring/belief_linearisation.h"

namespace dma {

Gaussian Square::to_x(const Gaussian& x, const Gaussian& y) {
  const auto fit = [](const InputVector& mean, const InputMatrix& covariance) {
    const double m = mean(0), v = covariance(0, 0);
    return LinearisedFunction{.value = m * m + v, .noise = 2 * v * v, .gains = InputVector::Constant(1, 2 * m)};
  };
  return fitted_to_input(fit, 0, {&x, 1}, y);
}

Kind square_kind() {
  return kind("square", "y = x^2")
      .input("x")
      .output("y")
      .function([](auto v, auto) { return Square::value(v[0]); })
      .linear_view(&Square::linear_view)
      .message<&Square::to_y>(kLinearisedMethod, "y")
      .message<&Square::to_x>(kLinearisedMethod, "x", from("x", "y"));
}

}  // namespace dma
