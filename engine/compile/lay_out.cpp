#include "engine/compile/lay_out.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/support/sizes.h"

namespace dma {

namespace {

// For merged factors, which have one slot each: a chain visited from last to first is stored in the order of its
// neighbours.
void reverse_members(Group& group, std::vector<Draft::Place>& places) {
  std::ranges::reverse(group.members);
  for (std::uint32_t slot = 0; slot < group.members.size(); ++slot) places[group.members[slot]].first_slot = slot;
}

void form_groups(Draft& draft) {
  const Resolved& graph = draft.graph;
  PlanData& plan = draft.plan;
  auto& places = draft.places;
  places.resize(graph.factors.size());
  std::vector<std::uint32_t> group_of_class(graph.factors.size(), kNowhere);
  const auto is_merged = [](const Resolved::Factor& factor) {
    return factor.slots == 1 && !factor.is_along_chain && !factor.has_given_table;
  };
  const auto join = [&](std::uint32_t f) {
    if (places[f].group != kNowhere) return;
    const auto& factor = graph.factors[f];
    std::uint32_t fresh = static_cast<std::uint32_t>(plan.groups.size());
    std::uint32_t& shared_group = group_of_class[draft.flow.kernel_class(f)];
    const bool joins = is_merged(factor) && shared_group != kNowhere;
    if (!joins) {
      plan.groups.push_back({});
      plan.groups.back().kind = factor.kind;
      plan.groups.back().damping =
          factor.damping == kDampedBySchedule ? plan.schedule.iteration.damping : factor.damping;
      if (is_merged(factor)) shared_group = fresh;
    }
    Group& group = plan.groups[joins ? shared_group : fresh];
    places[f] = {joins ? shared_group : fresh, group.slots};
    group.members.push_back(f);
    group.first_slot.push_back(group.slots);
    group.slots = add_sizes(group.slots, factor.slots, [&] {
      return fmt::format("factor '{}': the slots of all factors like it", factor.name());
    });
  };
  for (const Visit& visit : plan.schedule.visits) join(visit.factor);
  for (std::uint32_t f = 0; f < graph.factors.size(); ++f) join(f);
  for (Group& group : plan.groups)
    if (group.members.front() > group.members.back()) reverse_members(group, places);
}

// The maps of a group of merged factors, by port.
std::vector<IndexMap> merged_elements(const Resolved& graph, const Group& group) {
  const auto& first = graph.factors[group.members[0]];
  std::vector<std::vector<std::uint32_t>> tables(first.ports.size());
  for (std::size_t p = 0; p < tables.size(); ++p) tables[p].reserve(std::size_t{group.slots} * first.ports[p].terms);
  for (const std::uint32_t f : group.members)
    for (std::size_t p = 0; p < tables.size(); ++p) {
      const Resolved::Port& port = graph.factors[f].ports[p];
      for (std::uint32_t t = 0; t < port.terms; ++t) tables[p].push_back(port.elements(t));
    }
  std::vector<IndexMap> maps;
  for (auto& table : tables) maps.push_back(simplified({.table = std::move(table)}));
  return maps;
}

void lay_out_ports(const Resolved& graph, Group& group, std::uint32_t& next_slot) {
  const auto& first = graph.factors[group.members[0]];
  std::vector<IndexMap> merged;
  if (group.members.size() > 1) merged = merged_elements(graph, group);
  for (std::size_t p = 0; p < first.ports.size(); ++p) {
    Group::Port port;
    port.terms = first.ports[p].terms;
    port.message = first.ports[p].message;
    port.first_slot = next_slot;
    const auto messages = [&] { return fmt::format("factor '{}': the messages of the graph up to it", first.name()); };
    next_slot = add_sizes(next_slot, multiply_sizes(group.slots, port.terms, messages), messages);
    port.elements = group.members.size() == 1 ? first.ports[p].elements : std::move(merged[p]);
    group.ports.push_back(std::move(port));
  }
  // A plate with row or column maps is walked as rows of that many columns; one with a variadic port as a single row.
  group.columns = group.slots;
  const auto has_terms = [](const Group::Port& port) { return port.terms > 1; };
  if (group.members.size() > 1 || group.kind->variadic_port() || std::ranges::any_of(group.ports, has_terms)) return;
  for (const Group::Port& port : group.ports) {
    if (!port.elements.is_affine()) continue;
    const bool is_column = port.elements.divisor == 1 && port.elements.modulus != IndexMap::kWhole;
    const std::uint32_t columns = is_column ? port.elements.modulus : port.elements.divisor;
    if (columns > 1 && group.slots % columns == 0) group.columns = columns;  // a gather may end within a row
  }
}

// Merged factors share equal numbers; a state separates them when one is changed.
void lay_out_parameters(const Resolved& graph, Group& group, std::vector<double>& store) {
  const auto& first = graph.factors[group.members[0]];
  const Resolved::Parameters& parameters = *first.parameters;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    Group::Parameter parameter{static_cast<std::uint32_t>(store.size()), parameters[i].per_slot, parameters[i].terms};
    const auto differs = [&](std::uint32_t f) {
      const Resolved::Parameters* const own = graph.factors[f].parameters;
      return own != &parameters && (*own)[i].values != parameters[i].values;
    };
    if (std::ranges::any_of(group.members, differs)) parameter.per_slot = true;
    const std::size_t copies = parameter.per_slot ? group.members.size() : 1;
    for (std::size_t m = 0; m < copies; ++m) {
      const auto& values = (*graph.factors[group.members[m]].parameters)[i].values;
      store.insert(store.end(), values.begin(), values.end());
    }
    group.parameters.push_back(parameter);
    (void)checked_size(store.size(), [&] {
      return fmt::format("factor '{}': the parameters of the graph up to it", first.name());
    });
  }
}

}  // namespace

void lay_out(Draft& draft, bool constants_in_cavity) {
  const Resolved& graph = draft.graph;
  PlanData& plan = draft.plan;
  form_groups(draft);
  // Values and cavities come first among the messages of their element.
  VariableTableBuilder variables(plan.variables, graph.variables.size(), graph.names);
  for (const auto& v : graph.variables) {
    PlanData::Variable variable;
    variable.first_element = v.first_element;
    variable.size = v.size;
    variable.family = v.family;
    variable.observed = v.observed;
    variable.shared = v.shared;
    variable.cuts = v.cuts;
    if (v.observed || v.shared) {
      variable.first_slot = plan.slots;
      plan.slots = add_sizes(plan.slots, v.size, [&] {
        return fmt::format("variable '{}': the values of the graph up to it", v.name);
      });
    }
    variables.add(variable);
  }
  plan.first_message = plan.slots;
  for (Group& group : plan.groups) {
    lay_out_ports(graph, group, plan.slots);
    for (const Group::Port& port : group.ports) plan.given_tables += port.elements.is_given;
    lay_out_parameters(graph, group, plan.parameters);
    const auto room = [&] {
      return fmt::format("factor '{}': the numbers its messages need while they are computed",
                         graph.factors[group.members[0]].name());
    };
    std::uint32_t scratch = 0;
    for (const Group::Port& port : group.ports)
      scratch = add_sizes(scratch, multiply_sizes(kScratchPerTerm, port.terms, room), room);
    const bool has_many = std::ranges::any_of(
        group.ports, [&](const Group::Port& port) { return std::uint64_t{group.slots} * port.terms >= kManyTerms; });
    plan.scratch = std::max({plan.scratch, scratch, has_many ? kScratchOfMany : kLeastScratch});
    group.first_memory = plan.memory;
    const auto kept = [&] {
      return fmt::format("factor '{}': the numbers that kinds keep up to it", graph.factors[group.members[0]].name());
    };
    plan.memory =
        add_sizes(plan.memory, multiply_sizes(group.slots, checked_size(group.kind->memory(), kept), kept), kept);
  }
  plan.elements = graph.elements;
  for (std::uint32_t f = 0; f < graph.factors.size(); ++f) {
    const auto& factor = graph.factors[f];
    const bool of_model = connects_shared_alone(graph, factor);
    for (std::uint16_t p = 0; p < factor.ports.size(); ++p) {
      const MessageFunction* const message = factor.ports[p].message;
      const bool in_cavity = constants_in_cavity && of_model && message != nullptr && message->reads.empty();
      for (const VariableId v : factor.ports[p].variables)
        variables.add_end(v.value, {draft.places[f].group, p, of_model, in_cavity});
    }
  }
  variables.finish();
  plan.factors = FactorTable(graph);
  plan.mark = graph.mark;
}

void index_memberships(Draft& draft, std::size_t factors) {
  PlanData& plan = draft.plan;
  plan.memberships.resize(factors);
  const bool are_all_of_graph = plan.factors.are_all_of_graph();
  for (std::uint32_t g = 0; g < plan.groups.size(); ++g)
    for (std::uint32_t m = 0; m < plan.groups[g].members.size(); ++m)
      if (are_all_of_graph) plan.memberships[plan.groups[g].members[m]] = {g, m};
      else for (const FactorId origin : draft.graph.factors[plan.groups[g].members[m]].origins())
        plan.memberships[origin.value] = {g, m};
}

void index_incidence(PlanData& plan) {
  plan.element_of_slot.assign(plan.slots, 0);
  for (const Group& group : plan.groups)
    for (const Group::Port& port : group.ports)
      for (std::uint32_t q = 0; q < group.slots * port.terms; ++q)
        plan.element_of_slot[port.first_slot + q] = port.elements(q);
  for (const auto& variable : plan.variables)
    if (variable.first_slot != kNowhere)
      for (std::uint32_t i = 0; i < variable.size; ++i)
        plan.element_of_slot[variable.first_slot + i] = variable.first_element + i;
  plan.first_incident.resize(plan.elements + 1);
  plan.incident_slots.resize(plan.slots);
  sort_by_element(plan.element_of_slot, plan.first_incident, plan.incident_slots);
}

namespace {

bool reaches_an_element_twice(const Resolved::Factor& factor) {
  if (factor.has_given_table) return true;  // or may
  std::vector<std::uint32_t> elements;
  for (const auto& port : factor.ports)
    for (std::uint32_t q = 0; q < factor.slots * port.terms; ++q) elements.push_back(port.elements(q));
  std::ranges::sort(elements);
  return std::ranges::adjacent_find(elements) != elements.end();
}

}  // namespace

void index_visits(Draft& draft) {
  PlanData& plan = draft.plan;
  plan.first_send.clear();
  std::uint32_t sends = 0;
  std::size_t next = 0;
  for (const std::uint32_t first : plan.first_operation) {
    for (; next < first; ++next) sends += std::holds_alternative<Send>(plan.operations[next]);
    plan.first_send.push_back(sends);
  }
  plan.visits_at.assign(plan.variables.size(), {});
  plan.informed_by.assign(plan.schedule.visits.size(), {});
  plan.reaches_an_element_twice.clear();
  for (std::uint32_t i = 0; i < plan.schedule.visits.size(); ++i) {
    const Visit& visit = plan.schedule.visits[i];
    const auto& factor = draft.graph.factors[visit.factor];
    plan.reaches_an_element_twice.push_back(reaches_an_element_twice(factor));
    for (std::size_t p = 0; p < factor.ports.size(); ++p)
      for (const VariableId v : factor.ports[p].variables) {
        auto& readers = plan.visits_at[v.value];
        if (visit.refresh.has(p) && (readers.empty() || readers.back() != i)) readers.push_back(i);
        if (visit.send.has(p)) plan.informed_by[i].push_back(v.value);
      }
  }
}

}  // namespace dma
