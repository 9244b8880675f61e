#include "engine/learn/data.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "engine/support/error.h"

namespace dma {

namespace {

void check_values(const PlanData::Variable& v, std::span<const double> values) {
  const std::size_t each = v.family.values();
  std::vector<double> tau(v.size), rho(v.size);
  for (std::size_t first = 0; first < values.size(); first += v.values()) {
    const auto example = values.subspan(first, v.values());
    const std::size_t i = v.family->observe(example, v.family.lanes(), tau.data(), rho.data());
    if (i == v.elements()) continue;
    fail("variable '{}', example {}, element {}: the value is {}; {} is expected", v.name, first / v.values(), i,
         fmt::join(example.subspan(i * each, each), ", "), v.family->values);
  }
}

}  // namespace

std::size_t check_data(const Plan& plan, const Data& data, std::span<const VariableId> not_needed) {
  if (data.empty()) fail("no data: give the values of at least one observed variable");
  std::vector<bool> given(plan->variables.size());
  std::size_t examples = 0;
  std::string_view first;
  for (const auto& [variable, values] : data) {
    const auto& v = plan->variable(variable);
    if (!v.observed) fail("the data give values to '{}', which is not observed; declare it with graph.observed(...)", v.name);
    if (given[variable.value]) fail("the data give values to '{}' twice; give them once", v.name);
    given[variable.value] = true;
    if (values.size() % v.values() != 0)
      fail("variable '{}' has {} elements, which do not divide the {} values given", v.name, v.values(), values.size());
    const std::size_t count = values.size() / v.values();
    if (first.empty()) examples = count, first = v.name;
    if (count != examples) fail("'{}' has values for {} examples but '{}' for {}", first, examples, v.name, count);
    check_values(v, values);
  }
  for (std::uint32_t v = 0; v < plan->variables.size(); ++v)
    if (plan->variables[v].observed && !given[v] && std::ranges::find(not_needed, VariableId{v}) == not_needed.end())
      fail("observed variable '{}' has no values in the data; add {{{}, values}}", plan->variables[v].name,
           plan->variables[v].name);
  if (examples == 0) fail("no data: there are no examples");
  return examples;
}

void observe_example(const Data& data, std::size_t example, State& state) {
  for (const auto& [variable, values] : data) {
    const auto& v = state.plan()->variables[variable.value];
    if (v.observed) state.observe(variable, values.subspan(example * v.values(), v.values()));
  }
}

std::span<const double> values_of(const Data& data, VariableId variable) {
  const auto found = std::ranges::find(data, variable, &Observations::variable);
  return found == data.end() ? std::span<const double>{} : found->values;
}

}  // namespace dma
