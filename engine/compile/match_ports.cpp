#include "engine/compile/match_ports.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "engine/support/error.h"

namespace dma {

namespace {

using Variables = std::vector<Resolved::Variable>;

std::string port_list(const Kind& kind) {
  std::vector<std::string> names;
  for (const PortSpec& p : kind.ports()) names.push_back(p.name + (p.variadic ? "..." : ""));
  return fmt::format("{}", fmt::join(names, ", "));
}

std::vector<std::string> names_of(const std::vector<PortSpec>& ports) {
  std::vector<std::string> names;
  for (const PortSpec& port : ports) names.push_back(port.name);
  return names;
}

// The map from (slot, term) of one end to the elements of its variable.
IndexMap map_of(const Variables& variables, const Graph::Factor& factor, const Connection& c, std::uint32_t count) {
  const auto& variable = variables[c.variable.value];
  const auto does_not_divide = [&](std::string_view way) {
    fail("{}: {}({}) has {} elements, which do not divide the plate of {} slots", where(factor), way, variable.name,
         variable.size, count);
  };
  switch (c.reach) {
    case Reach::identical: return {variable.first_element, 1, IndexMap::kWhole, {}};
    case Reach::row:
      if (count % variable.size != 0) does_not_divide("row");
      return {variable.first_element, count / variable.size, IndexMap::kWhole, {}};
    case Reach::column:
      if (count % variable.size != 0) does_not_divide("column");
      return {variable.first_element, 1, variable.size, {}};
    case Reach::all_to_one:
      if (variable.size != 1)
        fail("{}: all_to_one({}) needs a variable of one element, but '{}' has {}", where(factor), variable.name,
             variable.name, variable.size);
      return {variable.first_element, 1, 1, {}};
    case Reach::gather: {
      IndexMap map;
      for (const std::uint32_t index : c.table) {
        if (index >= variable.size)
          fail("{}: gather({}) asks for element {} but '{}' has {} elements", where(factor), variable.name, index,
               variable.name, variable.size);
        map.table.push_back(variable.first_element + index);
      }
      return simplified(std::move(map));
    }
  }
  return {};
}

// The terms per slot that one end of a variadic port brings.
std::uint32_t terms_of(const Variables& variables, const Graph::Factor& factor, const Connection& c, std::uint32_t slots) {
  const auto size = c.reach == Reach::gather ? static_cast<std::uint32_t>(c.table.size()) : variables[c.variable.value].size;
  if (c.reach == Reach::all_to_one || c.reach == Reach::column) return size;
  if (c.reach == Reach::row) return 1;
  if (size % slots != 0)
    fail("{}: plate sizes do not fit: '{}' has {} elements, which do not divide among {} slots", where(factor),
         variables[c.variable.value].name, size, slots);
  return size / slots;
}

Resolved::Port variadic_port(const Variables& variables, const Graph::Factor& factor, const Ends& ends,
                             std::uint32_t slots) {
  Resolved::Port port;
  port.terms = 0;
  std::vector<std::uint32_t> terms;
  std::vector<IndexMap> maps;
  for (const Connection* c : ends) {
    terms.push_back(terms_of(variables, factor, *c, slots));
    port.terms += terms.back();
    maps.push_back(map_of(variables, factor, *c, slots * terms.back()));
  }
  if (ends.size() == 1) {
    port.elements = maps[0];
    return port;
  }
  for (std::uint32_t s = 0; s < slots; ++s)
    for (std::size_t i = 0; i < ends.size(); ++i)
      for (std::uint32_t t = 0; t < terms[i]; ++t) port.elements.table.push_back(maps[i](s * terms[i] + t));
  port.elements = simplified(std::move(port.elements));
  return port;
}

}  // namespace

std::string where(const Graph::Factor& factor) { return fmt::format("factor '{}' ({})", factor.name(), factor.kind); }

void assign_ports(const Graph::Factor& factor, const Kind& kind, PortEnds& assigned) {
  const auto& specs = kind.ports();
  assigned.resize(specs.size());
  for (Ends& ends : assigned) ends.clear();
  const bool by_position = std::ranges::all_of(factor.connections, [](const Connection& c) { return c.port.empty(); });
  if (by_position && factor.connections.size() == specs.size()) {
    for (std::size_t p = 0; p < specs.size(); ++p) assigned[p].push_back(&factor.connections[p]);
    return;
  }
  std::vector<const Connection*> positional;
  for (const Connection& c : factor.connections) {
    if (c.port.empty()) {
      positional.push_back(&c);
      continue;
    }
    const auto found = std::ranges::find(specs, c.port.get(), &PortSpec::name);
    if (found == specs.end())
      fail("{} has no port '{}'{}", where(factor), c.port.get(), suggestion(c.port.get(), names_of(specs)));
    const auto p = static_cast<std::size_t>(found - specs.begin());
    if (!assigned[p].empty() && !specs[p].variadic) fail("{}: port '{}' is connected twice", where(factor), c.port.get());
    assigned[p].push_back(&c);
  }
  std::size_t open = 0;
  for (std::size_t p = 0; p < specs.size(); ++p) open += assigned[p].empty();
  std::size_t surplus = positional.size() > open ? positional.size() - open : 0;
  auto next = positional.begin();
  for (std::size_t p = 0; p < specs.size(); ++p) {
    if (!assigned[p].empty()) continue;
    std::size_t take = 1;
    if (specs[p].variadic) take += std::exchange(surplus, 0);
    for (; take > 0 && next != positional.end(); --take) assigned[p].push_back(*next++);
    if (assigned[p].empty())
      fail("{}: port '{}' is not connected; it has the ports {}", where(factor), specs[p].name, port_list(kind));
  }
  if (next != positional.end())
    fail("{} is connected to {} variables but has only the ports {}", where(factor), factor.connections.size(),
         port_list(kind));
}

void check_families(const Variables& variables, const Graph::Factor& factor, const Kind& kind,
                    const PortEnds& ports) {
  const Resolved::Variable* first = nullptr;
  for (std::size_t p = 0; p < ports.size(); ++p)
    for (const Connection* c : ports[p]) {
      const auto& variable = variables[c->variable.value];
      const auto& spec = kind.ports()[p];
      if (spec.family && *spec.family != variable.family)
        fail("{}: port '{}' wants a {} variable but '{}' is {}", where(factor), spec.name, name(*spec.family),
             variable.name, name(variable.family));
      if (spec.family) continue;
      if (first == nullptr) first = &variable;
      if (first->family != variable.family)
        fail("{}: its variables must be of one family, but '{}' is {} and '{}' is {}", where(factor), first->name,
             name(first->family), variable.name, name(variable.family));
    }
}

std::uint32_t plate_size(const Variables& variables, const Graph::Factor& factor, const Kind& kind,
                         const PortEnds& ports) {
  std::uint32_t slots = 0;
  std::string_view decided_by;
  const auto agree = [&](std::uint32_t size, std::string_view name) {
    if (slots == 0) slots = size, decided_by = name;
    if (size != slots)
      fail("{}: plate sizes do not fit: '{}' has {} elements but '{}' has {}; wrap one in row(), column(), all_to_one() "
           "or gather(), or give both the same size",
           where(factor), decided_by, slots, name, size);
  };
  for (const Connection& c : factor.connections)
    if (c.reach == Reach::gather && c.table.empty())
      fail("{}: gather({}) has an empty table; name one element for each slot", where(factor), variables[c.variable.value].name);
  for (std::size_t p = 0; p < ports.size(); ++p) {
    if (kind.ports()[p].variadic) continue;
    const Connection& c = *ports[p][0];
    if (c.reach == Reach::identical) agree(variables[c.variable.value].size, variables[c.variable.value].name);
    if (c.reach == Reach::gather) agree(static_cast<std::uint32_t>(c.table.size()), variables[c.variable.value].name);
  }
  if (slots > 0) return slots;
  // Only broadcast ends: the largest decides.
  for (const auto& ends : ports) slots = std::max(slots, variables[ends[0]->variable.value].size);
  return slots;
}

void connect(const Variables& variables, const Graph::Factor& factor, const PortSpec& spec, const Ends& ends,
             std::uint32_t slots, Resolved::Port& port) {
  if (spec.variadic) port = variadic_port(variables, factor, ends, slots);
  else port.elements = map_of(variables, factor, *ends[0], slots);
  for (const Connection* c : ends)
    if (std::ranges::find(port.variables, c->variable) == port.variables.end()) port.variables.push_back(c->variable);
}

}  // namespace dma
