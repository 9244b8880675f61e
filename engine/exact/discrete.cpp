#include "engine/exact/discrete.h"

#include <algorithm>

#include "engine/run/factor_mass.h"
#include "engine/run/state_data.h"
#include "engine/support/text.h"

namespace dma::clique_tree {

namespace {

enum class Role : std::uint8_t { node, known, open };  // role of an element: discrete, observed, or neither

std::vector<Role> roles(const PlanData& plan) {
  std::vector<Role> out(plan.elements, Role::open);
  for (const auto& v : plan.variables)
    std::fill_n(out.begin() + v.first_element, v.size,
                v.family.outcomes() > 0 ? Role::node
                : v.observed            ? Role::known
                                        : Role::open);
  return out;
}

std::vector<Natural> point_at(const Family& family, std::uint32_t k) {
  std::vector<double> tau(family.components()), rho(tau.size());
  const double value = k;
  (void)family->observe({&value, 1}, tau.size(), tau.data(), rho.data());
  std::vector<Natural> out;
  for (std::size_t i = 0; i < tau.size(); ++i) out.push_back({tau[i], rho[i]});
  return out;
}

}  // namespace

DiscreteGraph::DiscreteGraph(const PlanData& plan) : node_at(plan.elements, kNowhere), joins(plan.elements, 0) {
  std::vector<std::uint8_t> is_met(plan.elements);
  for (const auto& v : plan.variables)
    for (std::uint32_t i = 0; v.family.outcomes() > 0 && i < v.size; i += v.family.components()) {
      node_at[v.first_element + i] = static_cast<std::uint32_t>(nodes.size());
      nodes.push_back({v.first_element + i, v.family.outcomes()});
    }
  const std::vector<Role> role = roles(plan);
  for (std::uint32_t g = 0; g < plan.groups.size(); ++g)
    for (std::uint32_t s = 0; s < plan.groups[g].slots; ++s) {
      const auto first = static_cast<std::uint32_t>(members.size());
      bool is_open = false;
      for (const Group::Port& port : plan.groups[g].ports)
        for (std::uint32_t q = s * port.terms; q < (s + 1) * port.terms; ++q) {
          const std::uint32_t e = port.elements(q);
          is_open |= role[e] == Role::open;
          joins[e] |= is_met[e];
          is_met[e] = 1;
          if (node_at[e] != kNowhere) members.push_back(node_at[e]);
        }
      if (is_open)
        members.resize(first);  // hanging.h handles it
      else
        scopes.push_back({g, s, first, static_cast<std::uint32_t>(members.size()) - first});
    }
}

void read_observed(const DiscreteGraph& discrete, const State& state, Values& values) {
  const PlanData& plan = *state.plan();
  values.assign(discrete.nodes.size(), kNowhere);
  Lent<Natural> lent;
  Lent<double> means, variances;
  std::vector<Natural>& point = *lent;
  const auto outcome = [&](const Family& family) {
    (*means).resize(point.size()), (*variances).resize(point.size());
    family->moments(point, family.components(), (*means).data(), (*variances).data());
    return family->has_dimension ? std::ranges::max_element(*means) - (*means).begin()
                                 : static_cast<std::ptrdiff_t>((*means)[0]);
  };
  for (std::uint32_t i = 0; i < plan.variables.size(); ++i) {
    const PlanData::Variable v = plan.variables[i];
    if (!v.observed) continue;
    if (!state.is_given({i})) fail("observed variable '{}' has no value; give it one with state.observe(...)", v.name);
    point.resize(v.family.components());
    for (std::uint32_t e = 0; v.family.outcomes() > 0 && e < v.size; e += v.family.components()) {
      for (std::uint32_t k = 0; k < point.size(); ++k) point[k] = state.data().message(v.first_slot + e + k);
      if (point[0].is_point())
        values[discrete.node_at[v.first_element + e]] = static_cast<std::uint32_t>(outcome(v.family));
    }
  }
}

FactorWeights::Weights FactorWeights::of(const Scope& scope) {
  const PlanData& plan = *state_.plan();
  const Group& group = plan.groups[scope.group];
  std::vector<double>&parameters = *parameters_, &logs = *logs_;
  parameters.clear();
  for (std::size_t i = 0; i < group.parameters.size(); ++i) {
    const ParameterView view = state_.data().parameter(scope.group, i);
    const double* const first = view.values + static_cast<std::ptrdiff_t>(scope.slot) * view.column;
    if (group.parameters.size() == 1 && group.kind->weights()) return {group.kind->weights()({first, view.terms})};
    parameters.insert(parameters.end(), first, first + view.terms);
  }
  // Computes f as an integral over point masses, one combination after the other.
  const FactorTable::Factor factor = plan.factors[group.members[group.member_at(scope.slot)]];
  Arrivals arrivals(group.ports.size());
  std::vector<Family> families;
  struct Place {
    std::size_t port, first;
    std::vector<std::vector<Natural>> points;  // by value
  };
  std::vector<Place> places;
  double log_space = 0;  // for missing values: log of the number of values they could have
  for (std::size_t p = 0; p < group.ports.size(); ++p) {
    const Group::Port& port = group.ports[p];
    for (std::uint32_t q = scope.slot * port.terms; q < (scope.slot + 1) * port.terms; ++q) {
      const std::uint32_t e = port.elements(q);
      const PlanData::Variable v = plan.variables.at_element(e);
      if (q == scope.slot * port.terms) families.push_back(v.family);
      if (discrete_.node_at[e] != kNowhere) {
        places.push_back({p, arrivals[p].size(), {}});
        for (std::uint32_t k = 0; k < v.family.outcomes(); ++k) places.back().points.push_back(point_at(v.family, k));
      }
      arrivals[p].push_back(v.family.outcomes() > 0 ? Natural()
                                                    : state_.data().message(v.first_slot + e - v.first_element));
      const std::size_t components = families.back().components();
      if (v.family.outcomes() > 0 || arrivals[p].size() % components != 0) continue;
      const Components arrival = Components(arrivals[p]).last(components);
      if (!is_flat(arrival)) continue;  // a missing value is integrated over in this factor only
      if (discrete_.joins[e])
        fail(
            "exact: observed variable '{}' has no value in this run, and joins "
            "factors; declare it with graph.variable(...) if it is unknown",
            v.name);
      log_space += log_normaliser_or_flat(v.family, arrival);
    }
  }
  logs.clear();
  std::vector<std::size_t> at(places.size());
  while (true) {
    for (std::size_t j = 0; j < places.size(); ++j)
      std::ranges::copy(places[j].points[at[j]],
                        arrivals[places[j].port].begin() + static_cast<std::ptrdiff_t>(places[j].first));
    try {
      logs.push_back(log_mass(*group.kind, factor.method, arrivals, parameters, families) + log_space);
    } catch (const Error& error) {
      fail("exact: factor '{}': {}", plan.slot_name(scope.group, scope.slot), error.what());
    }
    std::size_t j = places.size();
    while (j > 0 && ++at[j - 1] == places[j - 1].points.size()) at[--j] = 0;
    if (j == 0) return {logs, true};
  }
}

}  // namespace dma::clique_tree
