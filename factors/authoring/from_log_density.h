// A factor from its log density. Messages are those of expectation propagation (method "ep"): the moments of the
// density times the arriving messages, by quadrature (tilted.h), divided by the arriving message. The joint solver uses
// it as a site, like `probit`.
//
//   registry.add(likelihood_from_log_density("poisson_log", [](double x, double y) { return y * x - std::exp(x); }));
//   registry.add(likelihood_from_log_density("student", [](double x, double y, std::span<const double> p) { ... },
//                                            "a heavy tail", {{"scale", above(0)}, {"degrees", above(0), 4.0}}));
//
// `is_log_concave` promises that the log density is concave in every latent value: its messages then take half the
// time, because no other peak is searched for.
//
// The density must be integrable against a Gaussian; it need not be normalised (only evidence depends on that), and NaN
// and -inf mark the outside of its domain. If the exact message would have a negative precision, the message keeps the
// mean only, and the Report counts it as replaced. A variable whose own message is uniform receives a uniform message.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "engine/kinds/kind.h"

namespace dma {

// Arguments: the values on all ports in order, and the parameters in order of declaration.
using PortDensity = std::function<double(std::span<const double> values, std::span<const double> parameters)>;

// The last port is an output, the others are inputs. The first `latent` of them, one to three, receive messages;
// variables at the others must be observed.
Kind factor_from_log_density(std::string name, const std::vector<std::string>& ports, std::size_t latent,
                             PortDensity log_density, std::string summary = {},
                             std::vector<ParameterSpec> parameters = {}, bool is_log_concave = false);

// N(y; x, exp(log_variance(z))), ports x, `z` (its name) and y, each observed or not: noise with varying variance.
// Given z, x and y are Gaussian, so that one integral over z remains. x or y may have a uniform message.
using LogVariance = std::function<double(double z, std::span<const double> parameters)>;
// That likelihood as a kind with these parameters.
Kind noise_from_log_variance(std::string name, const std::string& z, LogVariance log_variance, std::string summary = {},
                             std::vector<ParameterSpec> parameters = {});

namespace detail {

template <class F>
inline constexpr bool kTakesParameters = [] {
  using Arguments = typename Signature<F>::Arguments;
  return std::is_same_v<std::tuple_element_t<std::tuple_size_v<Arguments> - 1, Arguments>, std::span<const double>>;
}();
template <class F>
inline constexpr std::size_t kValues = std::tuple_size_v<typename Signature<F>::Arguments> -
                                       (kTakesParameters<F> ? 1 : 0);

// Adapts f(double...), or f(double..., std::span<const double> parameters), to spans.
template <class F>
PortDensity on_spans(F f) {
  return [f = std::move(f)](std::span<const double> v, std::span<const double> p) -> double {
    return [&]<std::size_t... i>(std::index_sequence<i...>) {
      if constexpr (kTakesParameters<F>)
        return f(v[i]..., p);
      else
        return f(v[i]...);
    }
    (std::make_index_sequence<kValues<F>>());
  };
}

// x, or x1, x2, ...
inline std::vector<std::string> input_names(std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t i = 1; i <= count; ++i) names.push_back(count == 1 ? "x" : "x" + std::to_string(i));
  return names;
}

}  // namespace detail

// f(x, y), f(x1, x2, y) or f(x1, x2, x3, y), with std::span<const double> as a last argument if there are parameters:
// the log density of the value observed on port y given the inputs. Ports: x (or x1, x2, x3), y.
template <class F>
Kind likelihood_from_log_density(std::string name, F f, std::string summary = {},
                                 std::vector<ParameterSpec> parameters = {}, bool is_log_concave = false) {
  constexpr std::size_t kLatent = detail::kValues<F> - 1;
  static_assert(kLatent >= 1 && kLatent <= 3, "a log density of one to three inputs and y");
  std::vector<std::string> ports = detail::input_names(kLatent);
  ports.push_back("y");
  return factor_from_log_density(std::move(name), ports, kLatent, detail::on_spans(std::move(f)), std::move(summary),
                                 std::move(parameters), is_log_concave);
}

}  // namespace dma
