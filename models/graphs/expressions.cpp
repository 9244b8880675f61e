#include "models/graphs/expressions.h"

#include "engine/graph/plate.h"
#include "engine/support/text.h"

namespace dma {

namespace {

VariableId result_in(Graph& g, const Destination& result, std::size_t size, std::string_view family) {
  return result.variable ? *result.variable : g.variable(result.name, size, family);
}

// The number of slots that the inputs of a new factor agree on.
std::uint32_t plate_of(const Graph& g, std::string_view kind, std::initializer_list<Connection> inputs) {
  Graph::Factor factor;
  factor.kind = kind;
  factor.number = g.next_factor();
  factor.connections = ShortList<Connection, 2>(inputs);
  PlateShape shape(factor);
  for (const bool is_shifted : {true, false})
    for (const Connection& input : inputs)
      if ((input.reach == Reach::shift) == is_shifted) shape.add(input, g.name(input.variable), g[input.variable].size);
  return shape.slots();
}

}  // namespace

VariableId apply(Graph& g, std::string_view kind, std::initializer_list<Connection> inputs, ParameterList parameters,
                 const Destination& result) {
  if (inputs.size() == 0) fail("apply: a factor of kind '{}' needs an input; use g.factor for one that has none", kind);
  const std::uint32_t slots = plate_of(g, kind, inputs);
  const VariableId out = result_in(g, result, slots, g[inputs.begin()->variable].family);
  std::vector<Connection> ends(inputs);
  ends.emplace_back(out);
  g.factor(kind, std::move(ends), std::move(parameters));
  return out;
}

VariableId gaussian_prior(Graph& g, VariableId x, ParameterValue mean, ParameterValue variance) {
  g.factor("gaussian_prior", {x}, {{"mean", std::move(mean)}, {"variance", std::move(variance)}});
  return x;
}
VariableId gaussian_noise(Graph& g, const Connection& x, ParameterValue variance, const Destination& result) {
  return apply(g, "gaussian_noise", {x}, {{"variance", std::move(variance)}}, result);
}
VariableId product(Graph& g, const Connection& x, const Connection& y, const Destination& result) {
  return apply(g, "product", {x, y}, {}, result);
}
VariableId add(Graph& g, const Connection& x, const Connection& y, const Destination& result) {
  return apply(g, "add", {x, y}, {}, result);
}
VariableId square(Graph& g, const Connection& x, const Destination& result) {
  return apply(g, "square", {x}, {}, result);
}
VariableId affine(Graph& g, const Connection& x, ParameterValue a, ParameterValue b, const Destination& result) {
  return apply(g, "affine", {x}, {{"a", std::move(a)}, {"b", std::move(b)}}, result);
}
VariableId exponential(Graph& g, const Connection& x, const Destination& result) {
  return apply(g, "exponential", {x}, {}, result);
}
VariableId max(Graph& g, const Connection& x1, const Connection& x2, const Destination& result) {
  return apply(g, "max", {x1, x2}, {}, result);
}
VariableId leaky_relu(Graph& g, const Connection& x, ParameterValue slope, const Destination& result) {
  return apply(g, "leaky_relu", {x}, {{"slope", std::move(slope)}}, result);
}

VariableId sum(Graph& g, VariableId x, const Destination& result) { return sum_rows(g, x, 1, result); }

VariableId sum_rows(Graph& g, VariableId x, std::size_t rows, const Destination& result) {
  const Graph::Variable& terms = g[x];
  if (rows == 0 || terms.size % rows != 0)
    fail("sum_rows: '{}' has {} elements, which make no {} rows", terms.name, terms.size, rows);
  const VariableId total = result_in(g, result, rows, terms.family);
  g.factor("sum", {x, total});
  return total;
}

VariableId linear(Graph& g, VariableId x, const std::vector<double>& a, ParameterValue b, const Destination& result) {
  const std::size_t columns = g[x].size;
  if (a.empty() || a.size() % columns != 0)
    fail("linear: a matrix of {} numbers makes no rows of {} for '{}'", a.size(), columns, g[x].name);
  const VariableId y = result_in(g, result, a.size() / columns, g[x].family);
  g.factor("linear", {column(x), y}, {{"A", a}, {"b", std::move(b)}});
  return y;
}

VariableId matrix_product(Graph& g, VariableId w, VariableId x, const Destination& result) {
  const std::size_t columns = g[x].size;
  if (g[w].size % columns != 0)
    fail("matrix_product: '{}' has {} elements, which make no rows of {} for '{}'", g[w].name, g[w].size, columns,
         g[x].name);
  return sum_rows(g, product(g, w, column(x)), g[w].size / columns, result);
}

}  // namespace dma
