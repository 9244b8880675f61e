#include "engine/joint/system.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "engine/support/error.h"

namespace dma::joint_system {

namespace {

bool is_function(const Kind& kind) { return static_cast<bool>(kind.linear_view()); }
bool is_density(const Kind& kind) { return !is_function(kind) && kind.gaussian_row(); }

// Elements of one argument after the other, each by slot; a variadic port gives one argument per term.
template <class Keep>
std::uint32_t list_arguments(const Group& group, const Keep& keep, std::span<const std::uint32_t> slots,
                             std::vector<std::uint32_t>& out) {
  std::uint32_t count = 0;
  for (std::size_t p = 0; p < group.ports.size(); ++p) {
    if (!keep(group.kind->ports()[p])) continue;
    const Group::Port& port = group.ports[p];
    for (std::uint32_t t = 0; t < port.terms; ++t, ++count)
      for (const std::uint32_t s : slots) out.push_back(port.elements(s * port.terms + t));
  }
  return count;
}

bool is_input(const PortSpec& port) { return !port.output; }
bool is_output(const PortSpec& port) { return port.output; }
bool is_any(const PortSpec&) { return true; }

std::vector<std::uint32_t> all_slots(std::uint32_t count) {
  std::vector<std::uint32_t> slots(count);
  std::iota(slots.begin(), slots.end(), 0u);
  return slots;
}

}  // namespace

std::string element_name(const PlanData& plan, std::uint32_t element) {
  const PlanData::Variable v = plan.variables.at_element(element);
  return v.size == 1 ? std::string(v.name) : fmt::format("{}[{}]", v.name, element - v.first_element);
}

System::System(const PlanData& plan, const EliminationLimits& limits, std::vector<std::uint8_t> are_inferred)
    : inferred(std::move(are_inferred)) {
  assign_roles(plan);
  form_batches(plan);
  for (std::uint32_t e = 0; e < plan.elements; ++e)
    if (role[e] == Role::root) {
      unknown_of[e] = static_cast<std::uint32_t>(element_of.size());
      element_of.push_back(e);
    }
  form_rows(plan);
  trace_rows();
  elimination = eliminate(pattern, limits);
  // Columns have their final order now.
  sources.assign(pattern.columns.size(), kNone);
  for (std::uint32_t r = 0; r < rows; ++r) {
    if (first_program[r] != first_program[r + 1]) continue;
    const std::span own(seeds.data() + first_seed[r], seeds.data() + first_seed[r + 1]);
    if (own.size() != pattern.row(r).size()) continue;  // an element twice
    for (std::uint32_t k = pattern.first[r]; k < pattern.first[r + 1]; ++k)
      sources[k] = std::ranges::find(own, element_of[pattern.columns[k]], &Seed::element)->coefficient;
  }
}

void System::assign_roles(const PlanData& plan) {
  role.assign(plan.elements, Role::root);
  level.assign(plan.elements, 0);
  unknown_of.assign(plan.elements, kNone);
  for (const auto& v : plan.variables)
    for (std::uint32_t e = v.first_element; v.observed && e < v.first_element + v.size; ++e)
      if (inferred.empty() || !inferred[e]) role[e] = Role::known;
  std::vector<std::uint32_t> producer(plan.elements, kNone);
  for (std::uint32_t g = 0; g < plan.groups.size(); ++g) {
    const Group& group = plan.groups[g];
    if (!is_function(*group.kind)) continue;
    for (std::size_t p = 0; p < group.ports.size(); ++p) {
      if (!group.kind->ports()[p].output) continue;
      for (std::uint32_t q = 0; q < group.slots * group.ports[p].terms; ++q) {
        const std::uint32_t e = group.ports[p].elements(q);
        const auto factor = [&] { return plan.slot_name(g, q / group.ports[p].terms); };
        if (role[e] == Role::known)
          fail(
              "joint: '{}' is observed and also the output of factor '{}', a constraint of infinite precision; observe "
              "it through "
              "gaussian_noise instead",
              element_name(plan, e), factor());
        if (producer[e] != kNone)
          fail(
              "joint: '{}' is the output of two deterministic factors, '{}' is one of them: a constraint of infinite "
              "precision; "
              "connect one of them through gaussian_noise",
              element_name(plan, e), factor());
        producer[e] = g;
        role[e] = Role::derived;
      }
    }
  }
}

// Slots in the order of their levels, by Kahn's algorithm on single slots.
void System::form_batches(const PlanData& plan) {
  struct Node {
    std::uint32_t group, slot, waits = 0, level = 0;
  };
  std::vector<Node> nodes;
  std::vector<std::uint32_t> node_of(plan.elements, kNone);  // of derived elements
  std::vector<std::uint32_t> all, slot(1);
  for (std::uint32_t g = 0; g < plan.groups.size(); ++g) {
    const Group& group = plan.groups[g];
    if (!is_function(*group.kind)) continue;
    for (slot[0] = 0; slot[0] < group.slots; ++slot[0]) {
      all.clear();
      list_arguments(group, is_output, slot, all);
      for (const std::uint32_t e : all) node_of[e] = static_cast<std::uint32_t>(nodes.size());
      nodes.push_back({g, slot[0]});
    }
  }
  // Who waits for whom.
  std::vector<std::uint32_t> first(nodes.size() + 1), waiting;
  const auto for_inputs = [&](std::uint32_t n, const auto& visit) {
    all.clear();
    slot[0] = nodes[n].slot;
    list_arguments(plan.groups[nodes[n].group], is_input, slot, all);
    for (const std::uint32_t e : all)
      if (node_of[e] != kNone) visit(node_of[e]);
  };
  for (std::uint32_t n = 0; n < nodes.size(); ++n)
    for_inputs(n, [&](std::uint32_t m) { ++first[m + 1], ++nodes[n].waits; });
  std::partial_sum(first.begin(), first.end(), first.begin());
  waiting.resize(first.back());
  auto next = first;
  for (std::uint32_t n = 0; n < nodes.size(); ++n) for_inputs(n, [&](std::uint32_t m) { waiting[next[m]++] = n; });
  std::vector<std::uint32_t> ready;
  for (std::uint32_t n = 0; n < nodes.size(); ++n)
    if (nodes[n].waits == 0) nodes[n].level = 1, ready.push_back(n);
  for (std::size_t k = 0; k < ready.size(); ++k)
    for (std::uint32_t i = first[ready[k]]; i < first[ready[k] + 1]; ++i) {
      Node& node = nodes[waiting[i]];
      node.level = std::max(node.level, nodes[ready[k]].level + 1);
      if (--node.waits == 0) ready.push_back(waiting[i]);
    }
  if (ready.size() < nodes.size()) {
    const auto stuck = std::ranges::find_if(nodes, [](const Node& n) { return n.waits > 0; });
    fail("joint: factor '{}' lies on a directed cycle of deterministic factors; put gaussian_noise somewhere on it",
         plan.slot_name(stuck->group, stuck->slot));
  }
  std::ranges::sort(ready, {},
                    [&](std::uint32_t n) { return std::tuple(nodes[n].level, nodes[n].group, nodes[n].slot); });
  for (std::size_t k = 0; k < ready.size();) {
    const Node& head = nodes[ready[k]];
    Batch& batch = batches.emplace_back();
    batch.group = head.group;
    for (; k < ready.size() && nodes[ready[k]].level == head.level && nodes[ready[k]].group == head.group; ++k)
      batch.slot.push_back(nodes[ready[k]].slot);
    const Group& group = plan.groups[head.group];
    batch.slots = static_cast<std::uint32_t>(batch.slot.size());
    batch.inputs = list_arguments(group, is_input, batch.slot, batch.arguments);
    batch.outputs = list_arguments(group, is_output, batch.slot, batch.results);
    if (batch.slots == group.slots) batch.slot.clear();
    batch.gains = gain_count;
    gain_count += std::uint64_t{batch.inputs} * batch.slots;
    for (const std::uint32_t e : batch.results) level[e] = head.level;
  }
  // What follows from known elements alone is known; edges of the rest.
  first_edge.assign(plan.elements + 1, 0);
  feeds_function.assign(plan.elements, 0);
  std::vector<std::uint8_t> free;
  for (const Batch& batch : batches)
    for (std::uint32_t s = 0; s < batch.slots; ++s) {
      free.clear();
      for (std::uint32_t i = 0; i < batch.inputs; ++i) {
        const std::uint32_t e = batch.arguments[i * batch.slots + s];
        free.push_back(role[e] != Role::known);
        feeds_function[e] = 1;
      }
      const auto count = static_cast<std::uint32_t>(std::ranges::count(free, 1));
      const LinearIn& linear_in = plan.groups[batch.group].kind->linear_in();
      if (count > 0 && !(linear_in && linear_in(free))) has_constant_gains = false;
      for (std::uint32_t o = 0; o < batch.outputs; ++o) {
        const std::uint32_t e = batch.results[o * batch.slots + s];
        if (count == 0) role[e] = Role::known;
        first_edge[e + 1] = count;
      }
    }
  std::partial_sum(first_edge.begin(), first_edge.end(), first_edge.begin());
  edges.resize(first_edge.back());
  for (const Batch& batch : batches)
    for (std::uint32_t s = 0; s < batch.slots; ++s)
      for (std::uint32_t o = 0; o < batch.outputs; ++o) {
        std::uint32_t at = first_edge[batch.results[o * batch.slots + s]];
        for (std::uint32_t i = 0; i < batch.inputs; ++i)
          if (const std::uint32_t e = batch.arguments[i * batch.slots + s]; role[e] != Role::known)
            edges[at++] = {e, static_cast<std::uint32_t>(batch.gains + i * batch.slots + s)};
      }
}

void System::form_rows(const PlanData& plan) {
  first_seed.push_back(0);
  factors_at.assign(plan.elements, 0);
  const auto take_part = [&](std::uint32_t e) { factors_at[e] = std::min(2u, factors_at[e] + 1); };
  for (std::uint32_t g = 0; g < plan.groups.size(); ++g) {
    const Group& group = plan.groups[g];
    if (!is_density(*group.kind)) continue;
    RowPlate& plate = plates.emplace_back();
    plate.group = g;
    plate.slots = group.slots;
    plate.count = list_arguments(group, is_any, all_slots(group.slots), plate.arguments);
    plate.first_row = rows;
    plate.coefficients = coefficient_count;
    coefficient_count += std::uint64_t{plate.count} * plate.slots;
    rows += plate.slots;
    for (std::uint32_t s = 0; s < plate.slots; ++s) {
      for (std::uint32_t i = 0; i < plate.count; ++i) {
        const std::uint32_t e = plate.arguments[i * plate.slots + s];
        take_part(e);
        if (role[e] == Role::known)
          plate.has_known = true;
        else
          seeds.push_back({e, static_cast<std::uint32_t>(plate.coefficients + i * plate.slots + s)});
      }
      first_seed.push_back(static_cast<std::uint32_t>(seeds.size()));
    }
  }
  const auto add_unit_row = [&](std::uint32_t e) {
    seeds.push_back({e, 0});
    first_seed.push_back(static_cast<std::uint32_t>(seeds.size()));
    return rows++;
  };
  first_context_row = rows;
  for (const auto& v : plan.variables)
    for (std::uint32_t i = 0; v.shared && !v.observed && i < v.size; ++i)
      if (role[v.first_element + i] != Role::known) {
        context_slots.push_back(v.first_slot + i);
        context_elements.push_back(v.first_element + i);
        add_unit_row(v.first_element + i);
      }
  first_site_row = rows;
  for (std::uint32_t g = 0; g < plan.groups.size(); ++g) {
    const Group& group = plan.groups[g];
    if (is_function(*group.kind) || is_density(*group.kind)) continue;
    SitePlate& plate = sites.emplace_back();
    plate.group = g;
    plate.slots = group.slots;
    const std::string_view method = plan.factors[group.members[0]].method;
    for (std::size_t p = 0; p < group.ports.size(); ++p) {
      const Group::Port& port = group.ports[p];
      SitePlate::Port& out = plate.ports.emplace_back();
      out.terms = port.terms;
      out.first = site_messages;
      site_messages += std::uint64_t{group.slots} * port.terms;
      for (std::uint32_t q = 0; q < group.slots * port.terms; ++q) {
        const std::uint32_t e = port.elements(q);
        const bool takes_part = role[e] != Role::known;
        if (takes_part && out.message == nullptr) {
          out.message = port.message != nullptr ? port.message : group.kind->find_message(method, p);
          if (out.message == nullptr)
            fail("joint: '{}' is missing, and factor '{}' cannot send it a message: {}", element_name(plan, e),
                 plan.slot_name(g, q / port.terms), missing_message(*group.kind, method, p));
        }
        out.elements.push_back(e);
        take_part(e);
        if (takes_part) site_elements.push_back(e);
        out.rows.push_back(takes_part ? add_unit_row(e) : kNone);
      }
    }
  }
}

void System::ancestors(std::span<const std::uint32_t> from, std::vector<std::uint32_t>& mark, std::uint32_t stamp,
                       std::vector<std::uint32_t>& derived, std::vector<std::uint32_t>& roots) const {
  const std::size_t before = derived.size();
  const auto visit = [&](std::uint32_t e) {
    if (mark[e] == stamp) return;
    mark[e] = stamp;
    (role[e] == Role::derived ? derived : roots).push_back(e);
  };
  for (const std::uint32_t e : from) visit(e);
  for (std::size_t k = before; k < derived.size(); ++k) {
    const std::uint32_t e = derived[k];  // the list grows
    for (const Edge& edge : edges_of(e)) visit(edge.element);
  }
  std::sort(derived.begin() + static_cast<std::ptrdiff_t>(before), derived.end(),
            [&](std::uint32_t a, std::uint32_t b) { return level[a] > level[b]; });
}

void System::trace_rows() {
  pattern.unknowns = static_cast<std::uint32_t>(element_of.size());
  first_program.push_back(0);
  std::vector<std::uint32_t> mark(role.size(), kNone), from, roots;
  for (std::uint32_t r = 0; r < rows; ++r) {
    from.clear();
    roots.clear();
    for (std::uint32_t k = first_seed[r]; k < first_seed[r + 1]; ++k) from.push_back(seeds[k].element);
    ancestors(from, mark, r, programs, roots);
    first_program.push_back(static_cast<std::uint32_t>(programs.size()));
    for (const std::uint32_t e : roots) pattern.columns.push_back(unknown_of[e]);
    pattern.end_row();
  }
}

}  // namespace dma::joint_system
