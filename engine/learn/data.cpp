#include "engine/learn/data.h"

#include <algorithm>

#include "engine/compile/plan_data.h"
#include "engine/kinds/kind.h"
#include "engine/run/run.h"
#include "engine/support/text.h"

namespace dma {

namespace {

void check_values(const PlanData::Variable& v, std::span<const double> values) {
  const std::size_t each = v.family.values();
  std::vector<double> tau(v.size), rho(v.size);
  for (std::size_t first = 0; first < values.size(); first += v.values()) {
    const auto example = values.subspan(first, v.values());
    const std::size_t i = v.family->observe(example, v.family.components(), tau.data(), rho.data());
    if (i == v.elements()) continue;
    fail("variable '{}', example {}, element {}: the value is {}; {} is expected", v.name, first / v.values(), i,
         joined(example.subspan(i * each, each)), v.family->values);
  }
}

// Replaces missing values, which do not count, by one that was observed. Empty if none was.
std::vector<double> without_missing(std::span<const double> values, std::span<const std::uint8_t> is_missing) {
  const auto there = static_cast<std::size_t>(std::ranges::find(is_missing, 0) - is_missing.begin());
  if (there == values.size()) return {};
  std::vector<double> numbers(values.begin(), values.end());
  for (std::size_t i = 0; i < numbers.size(); ++i)
    if (is_missing[i] != 0) numbers[i] = values[there];
  return numbers;
}

const Group& group_of(const Plan& plan, const Tables& table) {
  if (table.factor.value >= plan->memberships.size() || !table.factor.is_of(plan->mark))
    fail("the data give a table to factor {}, but the graph has {}; use the ids that this graph gave",
         table.factor.value, plan->memberships.size());
  return plan->groups[plan->memberships[table.factor.value].group];
}

const Group::Port& port_of(const Group& group, const Tables& table) {
  return group.ports[group.kind->port(table.port)];
}

std::size_t entries_of(const Group& group, const Tables& table) {
  return std::size_t{group.slots} * port_of(group, table).terms;
}

void check_tables(const Plan& plan, const Data& data, std::size_t examples) {
  std::size_t given = 0;
  for (auto table = data.tables.begin(); table != data.tables.end(); ++table) {
    const Group& group = group_of(plan, *table);
    const FactorTable::Factor factor = plan->factors[group.members[0]];
    if (!port_of(group, *table).elements.is_given)
      fail(
          "the data give a table to port '{}' of factor '{}', which has none to be given; connect it by "
          "given(variable, "
          "entries)",
          table->port, factor.name());
    const auto is_same = [&](const Tables& t) { return t.factor == table->factor && t.port == table->port; };
    if (std::find_if(data.tables.begin(), table, is_same) != table)
      fail("the data give the table of port '{}' of factor '{}' twice", table->port, factor.name());
    ++given;
    const std::size_t entries = entries_of(group, *table);
    if (table->elements.size() != entries * examples)
      fail("the table of port '{}' of factor '{}' has {} entries in all; {} examples of {} are expected", table->port,
           factor.name(), table->elements.size(), examples, entries);
    const auto& variable = plan->variables.at_element(port_of(group, *table).elements(0));
    for (std::size_t k = 0; k < table->elements.size(); ++k)
      if (table->elements[k] >= variable.size)
        fail("example {}: entry {} of the table of port '{}' of factor '{}' is {}, but '{}' has {} elements (0 to {})",
             k / entries, k % entries, table->port, factor.name(), table->elements[k], variable.name, variable.size,
             variable.size - 1);
  }
  if (given != plan->given_tables)
    fail("the data give {} of the {} tables that the graph asks for; add {{factor, port, elements}} to data.tables",
         given, plan->given_tables);
}

}  // namespace

std::size_t check_data(const Plan& plan, const Data& data, std::span<const VariableId> not_needed) {
  if (data.empty()) fail("no data: give the values of at least one observed variable");
  std::vector<bool> given(plan->variables.size());
  std::size_t examples = 0;
  std::string first;
  for (const auto& [variable, values, is_missing] : data) {
    const auto& v = plan->variable(variable);
    if (!v.observed)
      fail("the data give values to '{}', which is not observed; declare it with graph.observed(...)", v.name);
    if (given[variable.value]) fail("the data give values to '{}' twice; give them once", v.name);
    given[variable.value] = true;
    if (values.size() % v.values() != 0)
      fail("variable '{}' has {} elements, which do not divide the {} values given", v.name, v.values(), values.size());
    const std::size_t count = values.size() / v.values();
    if (first.empty()) examples = count, first = v.name;
    if (count != examples) fail("'{}' has values for {} examples but '{}' for {}", first, examples, v.name, count);
    if (!is_missing.empty() && is_missing.size() != values.size())
      fail("variable '{}' has {} values, but {} marks say which of them are missing; give one for each", v.name,
           values.size(), is_missing.size());
    if (!is_missing.empty() && v.family.values() != 1)
      fail("variable '{}' is {}, whose values are several numbers each: they cannot be marked as missing one by one",
           v.name, v.family.text());
    if (is_missing.empty()) check_values(v, values);
    else check_values(v, without_missing(values, is_missing));
  }
  for (std::uint32_t v = 0; v < plan->variables.size(); ++v)
    if (plan->variables[v].observed && !given[v] && std::ranges::find(not_needed, VariableId{v}) == not_needed.end())
      fail("observed variable '{}' has no values in the data; add {{{}, values}}", plan->variables[v].name,
           plan->variables[v].name);
  if (examples == 0) fail("no data: there are no examples");
  check_tables(plan, data, examples);
  for (const std::uint32_t place : data.order)
    if (place >= examples)
      fail("the order of the data names example {}, but there are {} (0 to {})", place, examples, examples - 1);
  return data.order.empty() ? examples : data.order.size();
}

void observe_example(const Data& data, std::size_t ordered, State& state) {
  const std::size_t example = data.place(ordered);
  for (const Tables& table : data.tables) {
    const std::size_t entries = entries_of(group_of(state.plan(), table), table);
    state.set_table(table.factor, table.port, table.elements.subspan(example * entries, entries));
  }
  for (const auto& [variable, values, is_missing] : data) {
    const auto& v = state.plan()->variables[variable.value];
    if (!v.observed) continue;
    const auto own = values.subspan(example * v.values(), v.values());
    const auto marks = is_missing.empty() ? is_missing : is_missing.subspan(example * v.values(), v.values());
    const auto missing =
        static_cast<std::size_t>(std::ranges::count_if(marks, [](std::uint8_t mark) { return mark != 0; }));
    if (missing == 0) state.observe(variable, own);
    else if (missing == own.size()) state.observe(variable, std::nullopt);
    else state.observe(variable, without_missing(own, marks));
    for (std::size_t i = 0; i < own.size() && missing > 0; ++i)
      if (marks[i] != 0) state.observe_missing(variable, i);
  }
}

Observations observations_of(const Data& data, VariableId variable) {
  const auto found = std::ranges::find(data, variable, &Observations::variable);
  return found == data.end() ? Observations{variable, {}} : *found;
}

}  // namespace dma
