#include "engine/run/given_tables.h"

#include <algorithm>

#include "engine/kinds/kind.h"
#include "engine/support/text.h"

namespace dma {

GivenTables::GivenTables(const PlanData& plan) {
  for (std::uint32_t g = 0; g < plan.groups.size() && plan.given_tables > 0; ++g)
    for (std::uint32_t p = 0; p < plan.groups[g].ports.size(); ++p)
      if (plan.groups[g].ports[p].elements.is_given) ports_.push_back({g, p});
  if (!any()) return;
  element_of_slot_ = plan.element_of_slot;
  first_incident_ = plan.first_incident;
  incident_slots_ = plan.incident_slots;
}

void GivenTables::set(const PlanData& plan, FactorId factor, std::string_view port_name,
                      std::span<const std::uint32_t> elements) {
  const std::uint32_t g = plan.membership(factor).group;
  const auto p = static_cast<std::uint32_t>(plan.groups[g].kind->port(port_name));
  const auto table = std::ranges::find_if(ports_, [&](const Port& t) { return t.group == g && t.port == p; });
  if (table == ports_.end())
    fail("factor '{}': port '{}' has no table to be given; connect it by given(variable, entries)",
         plan.factors.name(plan.groups[g].members[0]), port_name);
  check(plan, *table, elements);
  const Group::Port& port = plan.groups[g].ports[p];
  const auto& variable = plan.variables.at_element(port.elements(0));
  for (std::uint32_t q = 0; q < elements.size(); ++q)
    element_of_slot_[port.first_slot + q] = variable.first_element + elements[q];
  table->is_given = is_stale_ = true;
}

void GivenTables::refresh(const PlanData& plan) {
  check_all_given(plan);
  if (!is_stale_) return;
  check_repetitions(plan);
  is_stale_ = false;
  sort_by_element(element_of_slot_, first_incident_, incident_slots_);
}

void GivenTables::copy_from(const GivenTables& other) {
  ports_ = other.ports_;
  std::ranges::copy(other.element_of_slot_, element_of_slot_.begin());  // sends point to this array
  std::ranges::copy(other.first_incident_, first_incident_.begin());
  std::ranges::copy(other.incident_slots_, incident_slots_.begin());
  is_stale_ = other.is_stale_;
}

void GivenTables::check(const PlanData& plan, const Port& table, std::span<const std::uint32_t> elements) {
  const Group& group = plan.groups[table.group];
  const Group::Port& port = group.ports[table.port];
  const std::string name = plan.factors.name(group.members[0]);
  const std::string& port_name = group.kind->ports()[table.port].name;
  const auto& variable = plan.variables.at_element(port.elements(0));
  if (elements.size() != std::size_t{group.slots} * port.terms)
    fail("factor '{}': the table of port '{}' has {} entries, {} are expected", name, port_name, elements.size(),
         std::size_t{group.slots} * port.terms);
  for (std::size_t q = 0; q < elements.size(); ++q)
    if (elements[q] >= variable.size)
      fail("factor '{}': entry {} of the table of port '{}' is {}, but '{}' has {} elements (0 to {})", name, q,
           port_name, elements[q], variable.name, variable.size, variable.size - 1);
}

void GivenTables::check_all_given(const PlanData& plan) const {
  for (const Port& table : ports_) {
    if (table.is_given) continue;
    const Group& group = plan.groups[table.group];
    const std::string port = group.kind->ports()[table.port].name;
    fail("factor '{}': the table of port '{}' is not given; call state.set_table({}, \"{}\", ...) before run",
         plan.slot_name(table.group, 0), port, plan.factors.name(group.members[0]), port);
  }
}

// An unknown that a slot meets twice would count as two.
void GivenTables::check_repetitions(const PlanData& plan) const {
  for (const Port& table : ports_) {
    const Group& group = plan.groups[table.group];
    const Group::Port& port = group.ports[table.port];
    const auto& variable = plan.variables.at_element(port.elements(0));
    if (variable.cuts) continue;
    for (std::uint32_t q = 0; q < group.slots * port.terms; ++q) {
      const std::uint32_t slot = q / port.terms, own = element(port, q);
      for (const Group::Port& other : group.ports)
        for (std::uint32_t t = slot * other.terms; t < (slot + 1) * other.terms; ++t)
          if ((&other != &port || t != q) && element(other, t) == own)
            fail(
                "factor '{}': by its tables slot {} meets element {} of "
                "'{}' twice, and would take it for two independent variables",
                plan.slot_name(table.group, slot), slot, own - variable.first_element, variable.name);
    }
  }
}

}  // namespace dma
