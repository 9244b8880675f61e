// Loops over the messages at a variable: the only code that knows how slots and elements correspond. Linear in the
// number of messages met, however the factors are grouped.
#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/compile/compile.h"
#include "engine/compile/plan_data.h"

namespace dma {

// Calls visit(slot) for every message of one end of a variable at one of its elements. `incidence` is the plan's, or
// that of a state whose tables are data.
template <class Visit>
void for_each_message_at(const PlanData& plan, const Incidence& incidence, const PlanData::Variable& variable,
                         const PlanData::Variable::End& end, std::uint32_t element, const Visit& visit) {
  const Group& group = plan.groups[end.group];
  const Group::Port& port = group.ports[end.port];
  const std::uint32_t count = group.slots * port.terms, e = variable.first_element + element;
  const IndexMap& map = port.elements;
  if (map.is_affine()) {  // element(q) = base + (q / divisor) % modulus
    const std::uint32_t beyond_base = e - map.base;
    if (e < map.base || beyond_base >= map.modulus) return;
    const std::uint64_t round = std::uint64_t{map.divisor} * map.modulus;
    for (std::uint64_t first = std::uint64_t{beyond_base} * map.divisor; first < count; first += round)
      for (std::uint64_t q = first; q < std::min<std::uint64_t>(first + map.divisor, count); ++q)
        visit(port.first_slot + static_cast<std::uint32_t>(q));
  } else {
    for (const std::uint32_t slot : incidence.at(e))
      if (slot - port.first_slot < count) visit(slot);
  }
}

// Calls visit(element of the variable, slot) for every message of one end.
template <class Visit>
void for_each_message(const PlanData& plan, const Incidence& incidence, const PlanData::Variable& variable,
                      const PlanData::Variable::End& end, const Visit& visit) {
  const Group& group = plan.groups[end.group];
  const Group::Port& port = group.ports[end.port];
  const IndexMap& map = port.elements;
  if (!map.is_affine() && !map.is_given && plan.incident_slots.empty()) {
    // Plans of other solvers have only the map.
    for (std::uint32_t q = 0; q < group.slots * port.terms; ++q)
      if (const std::uint32_t i = map(q) - variable.first_element; i < variable.size) visit(i, port.first_slot + q);
  } else if (map.is_identical()) {  // the slots that reach this variable are consecutive
    const std::uint32_t first = std::max(map.base, variable.first_element);
    const std::uint32_t last = std::min(map.base + group.slots * port.terms, variable.first_element + variable.size);
    for (std::uint32_t e = first; e < last; ++e) visit(e - variable.first_element, port.first_slot + e - map.base);
  } else if (map.is_given) {  // a few slots, each at any of many elements
    for (std::uint32_t slot = port.first_slot; slot < port.first_slot + group.slots * port.terms; ++slot)
      if (const std::uint32_t i = incidence.element[slot] - variable.first_element; i < variable.size) visit(i, slot);
  } else {
    for (std::uint32_t i = 0; i < variable.size; ++i)
      for_each_message_at(plan, incidence, variable, end, i, [&](std::uint32_t slot) { visit(i, slot); });
  }
}

// ... for all ends.
template <class Visit>
void for_each_message(const PlanData& plan, const Incidence& incidence, const PlanData::Variable& variable,
                      const Visit& visit) {
  if (plan.incident_slots.empty()) {
    for (const auto& end : variable.ends) for_each_message(plan, incidence, variable, end, visit);
    return;
  }
  for (std::uint32_t i = 0; i < variable.size; ++i) {
    const std::uint32_t e = variable.first_element + i;
    for (const std::uint32_t slot : incidence.at(e))
      if (slot >= plan.first_message) visit(i, slot);
  }
}

}  // namespace dma
