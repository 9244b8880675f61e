// A factor y = g(x_1, ..., x_k) from a plain function: forward messages by Gauss-Hermite quadrature, backward ones by
// statistical linearisation about the belief (belief_linearisation.h). Always proper, for any g with finite moments;
// one to three inputs.
//
//   registry.add(factor_from_function("softplus", [](double x) { return std::log1p(std::exp(x)); }));
//   registry.add(factor_from_function("power", [](double x, std::span<const double> p) { return std::pow(x, p[0]); },
//                                     "y = x^exponent", {{"exponent", above(0)}}));
//
// They are registered under "linearised", which serves every method. The joint solver takes the function itself.
#pragma once

#include "factors/authoring/from_log_density.h"

namespace dma {

// Inputs and one output "y"; parameters in order of declaration.
Kind factor_from_function(std::string name, const std::vector<std::string>& inputs, Kind::Function g,
                          std::string summary = {}, std::vector<ParameterSpec> parameters = {});

// g(x), g(x1, x2) or g(x1, x2, x3), and std::span<const double> as a last argument where there are parameters.
// Ports: x (or x1, x2, x3), y.
template <class F>
Kind factor_from_function(std::string name, F g, std::string summary = {}, std::vector<ParameterSpec> parameters = {}) {
  constexpr std::size_t kInputs = detail::kValues<F>;
  static_assert(kInputs >= 1 && kInputs <= 3, "a function of one to three inputs");
  return factor_from_function(std::move(name), detail::input_names(kInputs),
                              Kind::Function(detail::on_spans(std::move(g))), std::move(summary),
                              std::move(parameters));
}

}  // namespace dma
