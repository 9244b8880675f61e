#include "factors/arithmetic/affine.h"

#include "engine/kinds/kind.h"

namespace dma {

void Affine::linear_view(const LinearCall& call) {
  for (std::size_t s = 0; s < call.slots; ++s) {
    const ParameterRow p = call.parameter_row(s);
    call.value[s] = value(call.input(0)[s], {p.number(0), p.number(1)});
    if (call.gains != nullptr) call.gain(0)[s] = p.number(0);
  }
  call.no_variance_gains();
}

Kind affine_kind() {
  return kind("affine", "y = a x + b")
      .input("x")
      .output("y")
      .parameter("a", finite())
      .optional_parameter("b", 0.0, finite())
      .function([](auto v, auto p) { return Affine::value(v[0], {p[0], p[1]}); })
      .linear_view(&Affine::linear_view, linear_in_all)
      .message<&Affine::to_y>(kExact, "y")
      .message<&Affine::to_x>(kExact, "x");
}

}  // namespace dma
