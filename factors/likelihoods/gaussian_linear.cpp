#include "factors/likelihoods/gaussian_linear.h"

#include "engine/kinds/kind.h"

namespace dma {

void GaussianLinear::row(const RowCall& call) {
  const std::size_t terms = call.arguments - 1;
  for (std::size_t s = 0; s < call.slots; ++s) {
    const ParameterRow p = call.parameter_row(s);
    for (std::size_t t = 0; t < terms; ++t) call.coefficient(t)[s] = -p.terms(0)[t];
    call.coefficient(terms)[s] = 1;
    call.offset[s] = p.number(1);
    call.variance[s] = p.number(2);
  }
}

Kind gaussian_linear_density() {
  return kind("gaussian_linear", "N(y; A x + b, variance), A row by row")
      .variadic_input("x")
      .output("y")
      .per_term_parameter("A", 1.0, finite())
      .optional_parameter("b", 0.0, finite())
      .parameter("variance", at_least(0), finite())
      .log_density([](auto v, auto p) {
        const double line = Linear::value(v.first(v.size() - 1), p.first(p.size() - 1));
        return log_density(Gaussian::from_moments(line, p.back()), v.back());
      })
      .gaussian_row(&GaussianLinear::row);
}

Kind gaussian_linear_kind() {
  return gaussian_linear_density()
      .message<&GaussianLinear::to_y>(kExact, "y")
      .message<&GaussianLinear::to_x>(kExact, "x", from("x", "y"));
}

}  // namespace dma
