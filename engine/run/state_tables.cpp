// The part of State that concerns tables which are data.
#include <algorithm>

#include "engine/run/state.h"
#include "engine/support/error.h"

namespace dma {

std::vector<GivenTable> State::given_tables(const PlanData& plan) {
  std::vector<GivenTable> tables;
  for (std::uint32_t g = 0; g < plan.groups.size() && plan.given_tables > 0; ++g)
    for (std::uint32_t p = 0; p < plan.groups[g].ports.size(); ++p)
      if (plan.groups[g].ports[p].elements.is_given) tables.push_back({g, p});
  return tables;
}

void State::set_table(FactorId factor, std::string_view port_name, std::span<const std::uint32_t> elements) {
  const std::uint32_t g = plan_->membership(factor).group;
  const auto p = static_cast<std::uint32_t>(plan_->groups[g].kind->port(port_name));
  const auto table = std::ranges::find_if(tables_, [&](const GivenTable& t) { return t.group == g && t.port == p; });
  if (table == tables_.end())
    fail("factor '{}': port '{}' has no table to be given; connect it by given(variable, entries)",
         plan_->factors.name(plan_->groups[g].members[0]), port_name);
  check_table(*table, elements);
  const Group::Port& port = plan_->groups[g].ports[p];
  const auto& variable = plan_->variables.at_element(port.elements(0));
  for (std::uint32_t q = 0; q < elements.size(); ++q)
    element_of_slot_[port.first_slot + q] = variable.first_element + elements[q];
  table->is_given = tables_stale_ = true;
  ended_.reset();
}

void State::check_table(const GivenTable& table, std::span<const std::uint32_t> elements) const {
  const Group& group = plan_->groups[table.group];
  const Group::Port& port = group.ports[table.port];
  const std::string name = plan_->factors.name(group.members[0]);
  const std::string& port_name = group.kind->ports()[table.port].name;
  const auto& variable = plan_->variables.at_element(port.elements(0));
  if (elements.size() != std::size_t{group.slots} * port.terms)
    fail("factor '{}': the table of port '{}' has {} entries, {} are expected", name, port_name, elements.size(),
         std::size_t{group.slots} * port.terms);
  for (std::size_t q = 0; q < elements.size(); ++q)
    if (elements[q] >= variable.size)
      fail("factor '{}': entry {} of the table of port '{}' is {}, but '{}' has {} elements (0 to {})", name, q,
           port_name, elements[q], variable.name, variable.size, variable.size - 1);
}

// An unknown that a slot meets twice would count as two.
void State::check_repetitions() const {
  for (const GivenTable& table : tables_) {
    const Group& group = plan_->groups[table.group];
    const Group::Port& port = group.ports[table.port];
    const auto& variable = plan_->variables.at_element(port.elements(0));
    if (variable.cuts) continue;
    for (std::uint32_t q = 0; q < group.slots * port.terms; ++q) {
      const std::uint32_t slot = q / port.terms, own = element(port, q);
      for (const Group::Port& other : group.ports)
        for (std::uint32_t t = slot * other.terms; t < (slot + 1) * other.terms; ++t)
          if ((&other != &port || t != q) && element(other, t) == own)
            fail(
                "factor '{}': by its tables slot {} meets element {} of '{}' twice, and would take it for two "
                "independent "
                "variables",
                plan_->slot_name(table.group, slot), slot, own - variable.first_element, variable.name);
    }
  }
}

}  // namespace dma
