#include "tests/oracles/scalar_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace dma::oracle {

namespace {

// The chain step of slot 0: the first one at which no end reaches before the beginning.
std::size_t first_step(const Graph::Factor& factor) {
  std::int64_t first = 0;
  for (const Connection& c : factor.connections) first = std::max(first, std::int64_t{c.lag()});
  return static_cast<std::size_t>(first);
}

// The element that slot s of `slots` reaches, from the definition of each map.
std::size_t element_of(const Connection& c, std::size_t size, std::size_t s, std::size_t slots, std::size_t first) {
  switch (c.reach) {
    case Reach::identical:
      return size == slots ? s : first + s;
    case Reach::shift:
      return static_cast<std::size_t>(static_cast<std::int64_t>(first + s) - c.lag());
    case Reach::row:
      return s / (slots / size);
    case Reach::column:
      return s % size;
    case Reach::all_to_one:
      return 0;
    case Reach::gather:
      return c.table[s];
    case Reach::given:
      break;  // its table is not part of the graph
  }
  throw std::logic_error("a table that is data has no scalar graph");
}

// The connections of slot s: for a sum, those elements of each variadic end that belong to the slot.
std::vector<Connection> connections_of(const Graph& graph, const Graph::Factor& factor, std::size_t s,
                                       std::size_t slots, const std::vector<std::vector<VariableId>>& elements) {
  std::vector<Connection> scalar;
  const std::size_t first = first_step(factor);
  const bool is_chain = std::ranges::any_of(factor.connections, [](const auto& c) { return c.reach == Reach::shift; });
  for (std::size_t i = 0; i < factor.connections.size(); ++i) {
    const Connection& c = factor.connections[i];
    const auto& own = elements[c.variable.value];
    const bool is_term = factor.kind == "sum" && i + 1 < factor.connections.size();
    const std::size_t reached = c.reach == Reach::gather ? c.table.size() : own.size();
    std::size_t fraction = 1, total = slots;
    if (is_term && c.reach == Reach::column)
      fraction = own.size(), total = slots * fraction;
    else if (is_term && c.reach != Reach::row && !is_chain)
      fraction = reached / slots, total = reached;
    for (std::size_t t = 0; t < fraction; ++t)
      scalar.emplace_back(own[element_of(c, graph[c.variable].size, s * fraction + t, total, first)]);
  }
  return scalar;
}

}  // namespace

ScalarGraph written_out(const Graph& graph, const std::vector<std::size_t>& slots) {
  ScalarGraph out;
  for (const auto& v : graph.variables()) {
    out.elements.emplace_back();
    for (std::uint32_t i = 0; i < v.size; ++i) {
      const std::string name = fmt::format("{}.{}", v.name, i);
      out.elements.back().push_back(v.observed ? out.graph.observed(name, 1, v.family)
                                    : v.shared ? out.graph.shared(name, 1, v.family)
                                               : out.graph.variable(name, 1, v.family));
    }
  }
  for (std::size_t f = 0; f < graph.factors().size(); ++f) {
    const auto& factor = graph.factors()[f];
    for (std::size_t s = 0; s < slots[f]; ++s) {
      ParameterList parameters;
      for (const auto& [name, value] : factor.parameters) {
        const bool per_slot = name != "coefficients" && value.numbers.size() > 1;
        parameters.emplace_back(name, per_slot ? ParameterValue(value.numbers[s]) : value);
      }
      out.graph.factor(factor.kind, connections_of(graph, factor, s, slots[f], out.elements), std::move(parameters),
                       {fmt::format("{}.{}", factor.name(), s), std::string(factor.method)});
    }
  }
  return out;
}

}  // namespace dma::oracle
