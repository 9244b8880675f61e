// A factor y = g(x_1, ..., x_k) from a plain function: forward messages by Gauss-Hermite quadrature, backward ones by
// statistical linearisation at the belief (belief_linearisation.h). Always proper, for any g with finite moments; one
// to three inputs. For more inputs or several outputs, with the joint solver only: factor_from_vector_function.
//
//   registry.add(factor_from_function("softplus", [](double x) { return std::log1p(std::exp(x)); }));
//   registry.add(factor_from_function("power", [](double x, std::span<const double> p) { return std::pow(x, p[0]); },
//                                     "y = x^exponent", {{"exponent", above(0)}}));
//
// They are registered under "linearised", which serves every method. The joint solver takes the function itself.
#pragma once

#include <array>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "engine/kinds/kind.h"
#include "engine/support/text.h"
#include "factors/authoring/dual.h"

namespace dma {

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

// Inputs and one output "y"; parameters in order of declaration.
Kind factor_from_function(std::string name, const std::vector<std::string>& inputs, Kind::Function g,
                          std::string summary = {}, std::vector<ParameterSpec> parameters = {});

// g(x), g(x1, x2) or g(x1, x2, x3), with std::span<const double> as a last argument if there are parameters. Ports: x
// (or x1, x2, x3), y.
template <class F>
Kind factor_from_function(std::string name, F g, std::string summary = {}, std::vector<ParameterSpec> parameters = {}) {
  constexpr std::size_t kInputs = detail::kValues<F>;
  static_assert(kInputs >= 1 && kInputs <= 3, "a function of one to three inputs");
  return factor_from_function(std::move(name), detail::input_names(kInputs),
                              Kind::Function(detail::on_spans(std::move(g))), std::move(summary),
                              std::move(parameters));
}

// A parameter that is an array of data, of any length, shared by all slots.
ParameterSpec array_parameter(std::string name);

namespace detail {

Kind vector_kind(std::string name, Kind::VectorSize size, VectorFunction g, LinearView view, std::string summary,
                 const std::vector<ParameterSpec>& parameters);
[[noreturn]] void refuse_outputs(const std::string& name, std::size_t found, std::size_t expected);

// Calls g with numbers of type T and returns its outputs.
template <class T, class F>
auto outputs_of(const std::string& name, std::size_t expected, const F& g, std::span<const T> x,
                std::span<const double> p) {
  auto out = g(x, p);
  if (out.size() != expected) refuse_outputs(name, out.size(), expected);
  return out;
}

// Gains by dual numbers, some inputs at a time.
template <class F>
LinearView dual_view(std::string name, F g) {
  return [name = std::move(name), g = std::move(g)](const LinearCall& call) {
    constexpr std::size_t kTogether = 8;
    using Number = Dual<kTogether>;
    // A thread keeps the memory of its last call.
    thread_local std::vector<double> kept_x, kept_p;
    thread_local std::vector<Number> kept_duals;
    std::vector<double> x = std::move(kept_x), p = std::move(kept_p);
    std::vector<Number> duals = std::move(kept_duals);
    duals.assign(call.inputs, Number());
    for (std::size_t s = 0; s < call.slots; ++s) {
      call.read_slot(s, x, p);
      for (std::size_t i = 0; i < call.inputs; ++i) duals[i] = x[i];
      for (std::size_t first = 0; first < call.inputs; first += kTogether) {
        const std::size_t count = std::min(kTogether, call.inputs - first);
        for (std::size_t i = 0; i < count; ++i) duals[first + i].slope[i] = 1;
        const auto out = outputs_of<Number>(name, call.outputs, g, duals, p);
        for (std::size_t i = 0; i < count; ++i) duals[first + i].slope[i] = 0;
        for (std::size_t o = 0; o < call.outputs; ++o) {
          const Number found = out[o];
          call.value[o * call.slots + s] = found.value;
          for (std::size_t i = 0; call.gains != nullptr && i < count; ++i) call.gain(first + i, o)[s] = found.slope[i];
        }
        if (call.gains == nullptr) break;
      }
    }
    kept_x = std::move(x);
    kept_p = std::move(p);
    kept_duals = std::move(duals);
  };
}

}  // namespace detail

// A function of any number of inputs with several outputs, for the joint solver: it has no messages. Ports: x, which
// takes all inputs, and y1, y2, ... (y if there is one output, or more than 7). g takes the inputs and the parameters
// as spans and returns a vector or array of outputs. If g accepts any number type, its derivatives are exact:
//
//   registry.add(factor_from_vector_function("polar", 2, 2, [](auto x, auto) {
//     return std::array{hypot(x[0], x[1]), atan2(x[1], x[0])};
//   }));
template <class F>
Kind factor_from_vector_function(std::string name, std::size_t inputs, std::size_t outputs, F g,
                                 std::string summary = {}, const std::vector<ParameterSpec>& parameters = {}) {
  const VectorFunction plain = [name, g](std::span<const double> x, std::span<const double> p, std::span<double> y) {
    const auto out = detail::outputs_of<double>(name, y.size(), g, x, p);
    std::copy(out.begin(), out.end(), y.begin());
  };
  LinearView view;
  if constexpr (std::is_invocable_v<const F&, std::span<const Dual<8>>, std::span<const double>>)
    view = detail::dual_view(name, std::move(g));
  return detail::vector_kind(std::move(name), {inputs, outputs}, plain, std::move(view), std::move(summary),
                             parameters);
}

}  // namespace dma
