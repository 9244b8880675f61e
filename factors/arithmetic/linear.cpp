#include "factors/arithmetic/linear.h"

#include "engine/kinds/kind.h"

namespace dma {

void Linear::linear_view(const LinearCall& call) {
  Sum::linear_view(call);
  for (std::size_t s = 0; s < call.slots; ++s) call.value[s] += call.parameter_row(s).number(1);
}

Kind linear_function() {
  return kind("linear", "y = A x + b, A row by row")
      .variadic_input("x")
      .output("y")
      .per_term_parameter("A", 1.0, finite())
      .optional_parameter("b", 0.0, finite())
      .function([](auto v, auto p) { return Linear::value(v, p); })
      .linear_view(&Linear::linear_view, linear_in_all);
}

Kind linear_kind() {
  return linear_function().message<&Linear::to_y>(kExact, "y").message<&Linear::to_x>(kExact, "x", from("x", "y"));
}

}  // namespace dma
