#include "engine/joint/system.h"

#include <algorithm>

#include "engine/joint/arguments.h"
#include "engine/support/text.h"

namespace dma::joint_system {

System::System(const PlanData& plan, const EliminationLimits& limits, std::vector<std::uint8_t> are_inferred,
               bool may_solve)
    : inferred(std::move(are_inferred)) {
  assign_roles(plan);
  form_batches(plan, may_solve);
  for (std::uint32_t e = 0; e < plan.elements; ++e)
    if (role[e] == Role::root) {
      unknown_of[e] = static_cast<std::uint32_t>(element_of.size());
      element_of.push_back(e);
    }
  find_points(plan);
  form_rows(plan);
  trace_rows(limits);
  elimination = eliminate(pattern, limits);
  // Columns have their final order from here on.
  sources.assign(pattern.columns.size(), kNowhere);
  for (std::uint32_t r = 0; r < rows; ++r) {
    if (first_program[r] != first_program[r + 1]) continue;
    const std::span own(seeds.data() + first_seed[r], seeds.data() + first_seed[r + 1]);
    if (own.size() != pattern.row(r).size()) continue;  // an element appears twice
    for (std::uint32_t k = pattern.first[r]; k < pattern.first[r + 1]; ++k)
      sources[k] = std::ranges::find(own, element_of[pattern.columns[k]], &Seed::element)->coefficient;
  }
}

void System::assign_roles(const PlanData& plan) {
  role.assign(plan.elements, Role::root);
  level.assign(plan.elements, 0);
  unknown_of.assign(plan.elements, kNowhere);
  is_computed.assign(plan.elements, 0);
  for (const auto& v : plan.variables)
    for (std::uint32_t e = v.first_element; v.observed && e < v.first_element + v.size; ++e)
      if (inferred.empty() || !inferred[e]) role[e] = Role::known;
  std::vector<std::uint32_t> producer(plan.elements, kNowhere);
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
              "joint: '{}' is observed and also the output of factor '{}', a constraint "
              "of infinite precision; observe it through gaussian_noise instead",
              plan.element_name(e), factor());
        if (producer[e] != kNowhere)
          fail(
              "joint: '{}' is the output of two deterministic factors, '{}' is one of them: "
              "a constraint of infinite precision; connect one of them through gaussian_noise",
              plan.element_name(e), factor());
        producer[e] = g;
        role[e] = Role::derived;
        is_computed[e] = 1;
      }
    }
  }
}

void System::find_points(const PlanData& plan) {
  std::vector<std::uint32_t> bends(plan.elements,
                                   kNowhere);  // by element: the point that begins there, if it has slopes
  for (const auto& v : plan.variables) {
    const Chart* const chart = v.family->chart;
    for (std::uint32_t e = v.first_element; chart != nullptr && e < v.first_element + v.size; e += chart->size) {
      if (role[e] == Role::derived)
        fail("joint: variable '{}' is {} and the output of a function; points on manifolds can only be inputs", v.name,
             v.family.text());
      if (role[e] != Role::root) continue;
      if (chart->slopes != nullptr) bends[e] = static_cast<std::uint32_t>(points.size());
      points.push_back({e, unknown_of[e], chart});
    }
  }
  for (Batch& batch : batches) {
    const auto& size = plan.groups[batch.group].kind->vector_size();
    if (points.empty() || !size || size->is_along_steps) continue;
    for (std::uint32_t q = 0; q < batch.arguments.size(); ++q)
      if (const std::uint32_t p = bends[batch.arguments[q]]; p != kNowhere)
        batch.points.push_back({q / batch.slots, q % batch.slots, points[p].element, points[p].chart});
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
  first_cavity_row = rows;
  for (const auto& v : plan.variables)
    for (std::uint32_t i = 0; v.shared && !v.observed && i < v.size; ++i)
      if (role[v.first_element + i] != Role::known) {
        cavity_slots.push_back(v.first_slot + i);
        cavity_elements.push_back(v.first_element + i);
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
            fail("joint: '{}' is missing, and factor '{}' cannot send it a message: {}", plan.element_name(e),
                 plan.slot_name(g, q / port.terms), missing_message(*group.kind, method, p));
        }
        out.elements.push_back(e);
        take_part(e);
        if (takes_part) site_elements.push_back(e);
        out.rows.push_back(takes_part ? add_unit_row(e) : kNowhere);
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
    const std::uint32_t e = derived[k];  // the list grows in this loop
    for (const Edge& edge : edges_of(e)) visit(edge.element);
  }
  std::sort(derived.begin() + static_cast<std::ptrdiff_t>(before), derived.end(),
            [&](std::uint32_t a, std::uint32_t b) { return level[a] > level[b]; });
}

void System::trace_rows(const EliminationLimits& limits) {
  // Bytes per number of a row: its columns here and in the order, and its source.
  constexpr std::uint64_t kBytesPerNumber = 16;
  pattern.unknowns = static_cast<std::uint32_t>(element_of.size());
  first_program.push_back(0);
  std::vector<std::uint32_t> mark(role.size(), kNowhere), from, roots;
  for (std::uint32_t r = 0; r < rows; ++r) {
    from.clear();
    roots.clear();
    for (std::uint32_t k = first_seed[r]; k < first_seed[r + 1]; ++k) from.push_back(seeds[k].element);
    ancestors(from, mark, r, programs, roots);
    first_program.push_back(static_cast<std::uint32_t>(programs.size()));
    for (const std::uint32_t e : roots) pattern.columns.push_back(unknown_of[e]);
    pattern.end_row();
    if (const std::uint64_t numbers = pattern.columns.size() + programs.size();
        kBytesPerNumber * numbers > limits.bytes)
      fail(
          "joint: the first {} of {} rows alone have {} numbers, which take more than the limit of {:.3g} GB; raise "
          "joint({{.memory = ...}}) or solve by sweeps",
          r + 1, rows, numbers, static_cast<double>(limits.bytes) / 1e9);
  }
}

}  // namespace dma::joint_system
