// Models written as expressions: each function adds a factor of the kind it is named after, makes the variable for its
// result with the size that follows from its arguments, and returns it.
//
//   auto w = gaussian_prior(g, g.variable("w", 3), 0.0, 1.0);
//   auto z = sum(g, product(g, w, x));
//   gaussian_noise(g, z, 0.04, y);                              // into an existing variable
//
// The last argument, the destination of the result, is optional. These are short forms of Graph::factor, which also
// takes named ports, methods and several outputs; compile() checks both alike.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/graph/graph.h"

namespace dma {

// Destination of a result: a new variable with a number or a name, or an existing one.
struct Destination {
  Destination() = default;
  Destination(const char* new_name) : name(new_name) {}             // NOLINT: product(g, w, x, "p")
  Destination(std::string new_name) : name(std::move(new_name)) {}  // NOLINT
  Destination(VariableId there) : variable(there) {}                // NOLINT: gaussian_noise(g, z, 0.04, y)
  std::string name;
  std::optional<VariableId> variable;
};

// A factor of any kind whose last port is its only output: `apply(g, "softplus", {x})`. A new result has one element
// per slot of the plate that the inputs agree on (row(a) and column(b): rows x columns), and the inputs' family.
VariableId apply(Graph& g, std::string_view kind, std::initializer_list<Connection> inputs,
                 ParameterList parameters = {}, const Destination& result = {});

// Returns x, now with the prior N(mean, variance).
VariableId gaussian_prior(Graph& g, VariableId x, ParameterValue mean, ParameterValue variance);
// N(x, variance).
VariableId gaussian_noise(Graph& g, const Connection& x, ParameterValue variance, const Destination& result = {});

// x y, x + y, x^2, element by element.
VariableId product(Graph& g, const Connection& x, const Connection& y, const Destination& result = {});
VariableId add(Graph& g, const Connection& x, const Connection& y, const Destination& result = {});  // x + y
VariableId square(Graph& g, const Connection& x, const Destination& result = {});                    // x^2
// a x + b, exp(x), the larger of two.
VariableId affine(Graph& g, const Connection& x, ParameterValue a, ParameterValue b, const Destination& result = {});
VariableId exponential(Graph& g, const Connection& x, const Destination& result = {});                 // exp(x)
VariableId max(Graph& g, const Connection& x1, const Connection& x2, const Destination& result = {});  // the larger
// max(0, x) + slope min(0, x).
VariableId leaky_relu(Graph& g, const Connection& x, ParameterValue slope, const Destination& result = {});

// The sum of all elements of x.
VariableId sum(Graph& g, VariableId x, const Destination& result = {});
// The sums of the rows of x, which holds `rows` rows one after the other.
VariableId sum_rows(Graph& g, VariableId x, std::size_t rows, const Destination& result = {});
// A x + b: the matrix row by row, and b as one number or one per row.
VariableId linear(Graph& g, VariableId x, const std::vector<double>& a, ParameterValue b = 0.0,
                  const Destination& result = {});
// The matrix w, row by row, times the vector x; the result has size of w / size of x elements.
VariableId matrix_product(Graph& g, VariableId w, VariableId x, const Destination& result = {});

}  // namespace dma
