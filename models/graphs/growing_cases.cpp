#include "models/graphs/growing_cases.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/exact/discrete.h"
#include "engine/exact/exact.h"
#include "engine/support/error.h"

namespace dma::growing_graph {

Table::Table(const Graph& graph, std::uint32_t factor, const Registry& registry, const Lookup& known) {
  const Graph::Factor own = graph[FactorId{factor}];
  Graph alone;
  std::vector<std::uint32_t> variables;  // by variable of that graph
  std::vector<Connection> ends(own.connections.begin(), own.connections.end());
  for (Connection& c : ends) {
    const Graph::Variable v = graph[c.variable];
    const auto at = static_cast<std::uint32_t>(std::ranges::find(variables, c.variable.value) - variables.begin());
    if (at == variables.size()) {
      variables.push_back(c.variable.value);
      (void)(v.observed ? alone.observed(v.name, v.size, v.family) : alone.variable(v.name, v.size, v.family));
    }
    c.variable = VariableId{at};
  }
  (void)alone.factor_like(own, std::move(ends));
  // exact() takes graphs with a discrete variable.
  if (!own.when.empty()) (void)alone.variable("", 1, graph.without_name(own.when[0].variable).family);
  const Plan plan = compile(alone, exact(), registry, {.is_part = true});
  State state(plan);
  for (std::uint32_t v = 0; v < variables.size(); ++v)
    if (plan->variable({v}).observed) state.observe({v}, known(variables[v]).value);
  const clique_tree::DiscreteGraph discrete(*plan);
  clique_tree::FactorWeights weights(discrete, state);
  for (const clique_tree::Scope& scope : discrete.scopes) {
    Slot& slot = slots_.emplace_back();
    for (const std::uint32_t n : discrete.nodes_of(scope)) {
      const auto [element, outcomes] = discrete.nodes[n];
      const auto at = static_cast<std::uint32_t>(plan->variables.index_at(element));
      const PlanData::Variable v = plan->variable({at});
      slot.ends.push_back({variables[at], (element - v.first_element) / v.family.components(), outcomes});
    }
    const auto [numbers, are_logs] = weights.of(scope);
    for (const double number : numbers) slot.logs.push_back(are_logs ? number : std::log(number));
  }
}

double Table::log_value(const Lookup& known) const {
  double sum = 0;
  for (const Slot& slot : slots_) {
    std::size_t at = 0;
    for (const End& end : slot.ends)
      at = at * end.outcomes + static_cast<std::size_t>(known(end.variable).value[end.element]);
    sum += slot.logs[at];
  }
  return sum;
}

bool merge_into(Boundary& boundary, std::span<const WeightedGaussian> cases, std::size_t first, std::size_t stride) {
  const WeightedGaussian merged = merge(cases, first, stride);
  boundary.means.assign(merged.mean.begin(), merged.mean.end());
  boundary.covariance.assign(merged.covariance.reshaped().begin(), merged.covariance.reshaped().end());
  boundary.log_weight = merged.log_weight;
  const WeightedGaussian* possible = nullptr;
  bool are_many = false;
  for (std::size_t i = first; i < cases.size(); i += stride) {
    if (cases[i].log_weight == -HUGE_VAL) continue;
    if (possible == nullptr) possible = &cases[i];
    are_many |= cases[i].mean != possible->mean || cases[i].covariance != possible->covariance;
  }
  return are_many;
}

}  // namespace dma::growing_graph
