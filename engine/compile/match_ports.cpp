#include "engine/compile/match_ports.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "engine/support/sizes.h"
#include "engine/support/text.h"

namespace dma {

namespace {

using Variables = std::vector<Resolved::Variable>;

std::string port_list(const Kind& kind) {
  std::vector<std::string> names;
  for (const PortSpec& p : kind.ports()) names.push_back(p.name + (p.variadic ? "..." : ""));
  return joined(names);
}

// The map from (slot, term) of one end to the elements of its variable.
IndexMap map_of(const Variables& variables, const Graph::Factor& factor, const Connection& c, std::uint32_t count) {
  const auto& variable = variables[c.variable.value];
  const auto does_not_divide = [&](std::string_view way) {
    fail("{}: {}({}) has {} elements, which do not divide the plate of {} slots", where(factor), way, variable.name,
         variable.elements(), count);
  };
  switch (c.reach) {
    case Reach::identical:
    case Reach::shift: {
      // Along a chain the slots begin at the first step that all ends can reach.
      const bool along_chain = c.reach == Reach::shift || variable.elements() != count;
      const std::int64_t first = along_chain ? std::int64_t{Lags(factor).before} - c.lag() : 0;
      return {variable.first_element + static_cast<std::uint32_t>(first), 1, IndexMap::kWhole};
    }
    case Reach::row:
      if (count % variable.elements() != 0) does_not_divide("row");
      return {variable.first_element, count / variable.elements(), IndexMap::kWhole};
    case Reach::column:
      if (count % variable.elements() != 0) does_not_divide("column");
      return {variable.first_element, 1, variable.elements()};
    case Reach::all_to_one:
      if (variable.elements() != 1)
        fail("{}: all_to_one({}) needs a variable of one element, but '{}' has {}", where(factor), variable.name,
             variable.name, variable.elements());
      return {variable.first_element, 1, 1};
    case Reach::gather: {
      std::vector<std::uint32_t> table;
      for (const std::uint32_t index : c.table) {
        if (index >= variable.elements())
          fail("{}: gather({}) asks for element {} but '{}' has {} elements", where(factor), variable.name, index,
               variable.name, variable.elements());
        table.push_back(variable.first_element + index);
      }
      return simplified({.table = std::move(table)});
    }
    case Reach::given: {
      std::vector<std::uint32_t> table;
      for (std::uint32_t q = 0; q < count; ++q) table.push_back(variable.first_element + q % variable.elements());
      return {.is_given = true, .table = std::move(table)};
    }
  }
  return {};
}

// The map of `count` elements as one of their components: (slot, term, component) -> component of its variable.
IndexMap widened(IndexMap map, const Resolved::Variable& variable, std::uint32_t count) {
  const std::uint32_t components = variable.family.components();
  if (components == 1) return map;
  if (map.is_given)
    fail("variable '{}' is {}; tables that are given are for families of one number pair, such as gaussian",
         variable.name, variable.family.text());
  if (map.is_affine() && map.divisor == 1) {
    map.base = variable.first_element + (map.base - variable.first_element) * components;
    if (map.modulus != IndexMap::kWhole) map.modulus *= components;
    return map;
  }
  std::vector<std::uint32_t> wide;
  for (std::uint32_t q = 0; q < count; ++q)
    for (std::uint32_t component = 0; component < components; ++component)
      wide.push_back(variable.first_element + (map(q) - variable.first_element) * components + component);
  return simplified({.table = std::move(wide)});
}

Resolved::Port variadic_port(const Variables& variables, const Graph::Factor& factor, const Ends& ends,
                             std::uint32_t slots) {
  Resolved::Port port;
  port.terms = 0;
  std::vector<std::uint32_t> terms;
  std::vector<IndexMap> maps;
  for (const Connection* c : ends) {
    const auto what = [&] {
      return fmt::format("{}: its terms up to '{}'", where(factor), variables[c->variable.value].name);
    };
    const auto& variable = variables[c->variable.value];
    const std::uint32_t elements = terms_of(variables, factor, *c, slots);
    terms.push_back(multiply_sizes(elements, variable.family.components(), what));
    port.terms = add_sizes(port.terms, terms.back(), what);
    (void)multiply_sizes(slots, port.terms, what);
    maps.push_back(widened(map_of(variables, factor, *c, slots * elements), variable, slots * elements));
  }
  if (ends.size() > 1 && std::ranges::any_of(maps, &IndexMap::is_given))
    fail("{}: a given table stands alone on its port; give one table for all terms, or use a kind with two ports",
         where(factor));
  if (ends.size() == 1) {
    port.elements = maps[0];
    return port;
  }
  std::vector<std::uint32_t> table;
  for (std::uint32_t s = 0; s < slots; ++s)
    for (std::size_t i = 0; i < ends.size(); ++i)
      for (std::uint32_t t = 0; t < terms[i]; ++t) table.push_back(maps[i](s * terms[i] + t));
  port.elements = simplified({.table = std::move(table)});
  return port;
}

void connect_one(const Variables& variables, const Graph::Factor& factor, const Connection& c, std::uint32_t slots,
                 Resolved::Port& port) {
  const auto& variable = variables[c.variable.value];
  port.elements = map_of(variables, factor, c, slots);
  port.terms = variable.family.components();
  if (port.terms == 1) return;
  (void)multiply_sizes(slots, port.terms,
                       [&] { return fmt::format("{}: the components of '{}'", where(factor), variable.name); });
  port.elements = widened(std::move(port.elements), variable, slots);
}

// True if a slot may meet an element twice. For nearly every factor this needs no look at its slots.
bool may_repeat(const Resolved::Factor& factor) {
  for (std::size_t p = 0; p < factor.ports.size(); ++p) {
    const Resolved::Port& port = factor.ports[p];
    const IndexMap& map = port.elements;
    if (port.terms > 1 && !(map.is_affine() && map.divisor == 1 && map.modulus >= port.terms)) return true;
    for (std::size_t q = 0; q < p; ++q) {
      const IndexMap& other = factor.ports[q].elements;
      constexpr std::size_t kMostCompared = 10'000;
      if (port.variables.size() * factor.ports[q].variables.size() > kMostCompared) return true;
      const bool is_apart = port.terms == 1 && factor.ports[q].terms == 1 && map.is_identical() &&
                            other.is_identical() && map.base != other.base;  // two places of a chain
      for (const VariableId v : port.variables)
        if (!is_apart && std::ranges::find(factor.ports[q].variables, v) != factor.ports[q].variables.end())
          return true;
    }
  }
  return false;
}

void refuse_repetitions(const Variables& variables, const Graph::Factor& factor, const Resolved::Factor& resolved) {
  std::vector<std::uint32_t> elements;
  for (std::uint32_t s = 0; s < resolved.slots; ++s) {
    elements.clear();
    for (const Resolved::Port& port : resolved.ports)
      for (std::uint32_t t = 0; t < port.terms; ++t) elements.push_back(port.elements(s * port.terms + t));
    std::ranges::sort(elements);
    for (auto e = std::ranges::adjacent_find(elements); e != elements.end();
         e = std::adjacent_find(e + 1, elements.end())) {
      const auto variable = std::ranges::upper_bound(variables, *e, {}, &Resolved::Variable::first_element) - 1;
      if (!variable->wants_messages) continue;  // a value that is known is no second opinion
      fail(
          "{}: '{}' stands on two of its ports{}, and would count as two independent variables; use a kind that takes "
          "it once: square for a product with itself, a coefficient of 2 for a sum",
          where(factor), variable->name,
          variable->elements() == 1 ? ""
                                    : fmt::format(" (element {} in slot {})",
                                                  (*e - variable->first_element) / variable->family.components(), s));
    }
  }
}

}  // namespace

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
      fail("{} has no port '{}'{}", where(factor), c.port.get(), suggestion(c.port.get(), specs, &PortSpec::name));
    const auto p = static_cast<std::size_t>(found - specs.begin());
    if (!assigned[p].empty() && !specs[p].variadic)
      fail("{}: port '{}' is connected twice", where(factor), c.port.get());
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

void check_families(const Variables& variables, const Graph::Factor& factor, const Kind& kind, const PortEnds& ports) {
  const Resolved::Variable* first = nullptr;
  for (std::size_t p = 0; p < ports.size(); ++p)
    for (const Connection* c : ports[p]) {
      const auto& variable = variables[c->variable.value];
      const auto& spec = kind.ports()[p];
      if (spec.is_gaussian && variable.family == Family()) continue;
      if (spec.is_gaussian && !spec.output && kind.vector_size() && variable.family->chart != nullptr) continue;
      if (spec.family && *spec.family != variable.family.name())
        fail("{}: port '{}' wants a {} variable but '{}' is {}", where(factor), spec.name, *spec.family, variable.name,
             variable.family.text());
      if (spec.family) continue;
      if (!variable.family->is_like_gaussian)
        fail("{}: port '{}' takes a gaussian or log_normal variable, or one like them, but '{}' is {}", where(factor),
             spec.name, variable.name, variable.family.text());
      if (first == nullptr) first = &variable;
      if (first->family != variable.family)
        fail("{}: its variables must be of one family, but '{}' is {} and '{}' is {}", where(factor), first->name,
             first->family.text(), variable.name, variable.family.text());
    }
}

std::uint32_t terms_of(const Variables& variables, const Graph::Factor& factor, const Connection& c,
                       std::uint32_t slots) {
  const bool has_table = c.reach == Reach::gather || c.reach == Reach::given;
  const auto what = [&] {
    return fmt::format("{}: the entries of the table of '{}'", where(factor), variables[c.variable.value].name);
  };
  const std::uint32_t size = has_table ? checked_size(c.entries(), what) : variables[c.variable.value].elements();
  if (c.reach == Reach::all_to_one || c.reach == Reach::column) return size;
  if (c.reach == Reach::row || c.reach == Reach::shift) return 1;
  if (c.reach == Reach::identical && size > slots && size == slots + Lags(factor).in_all()) return 1;
  if (size % slots != 0)
    fail("{}: plate sizes do not fit: '{}' has {} elements, which do not divide among {} slots", where(factor),
         variables[c.variable.value].name, size, slots);
  return size / slots;
}

PortComponents components_of_ends(const Variables& variables, const Graph::Factor& factor, const Kind& kind,
                                  std::uint32_t slots, const PortEnds& ports) {
  PortComponents components(ports.size());
  for (std::size_t p = 0; p < ports.size(); ++p)
    for (const Connection* c : ports[p])
      components[p].insert(components[p].end(), kind.ports()[p].variadic ? terms_of(variables, factor, *c, slots) : 1,
                           variables[c->variable.value].family.components());
  return components;
}

std::uint32_t plate_size(const Variables& variables, const Graph::Factor& factor, const Kind& kind,
                         const PortEnds& ports) {
  PlateShape shape(factor);
  // If all ports are variadic, each end is one term.
  const bool has_plain = std::ranges::any_of(kind.ports(), [](const PortSpec& port) { return !port.variadic; });
  // Shifted connections, which determine the length of a chain, come first, even on a variadic port.
  for (const Ends& ends : ports)
    for (const Connection* c : ends)
      if (const auto& v = variables[c->variable.value]; c->reach == Reach::shift) shape.add(*c, v.name, v.elements());
  for (std::size_t p = 0; p < ports.size(); ++p)
    for (const Connection* c : ports[p]) {
      const auto& variable = variables[c->variable.value];
      if ((c->reach == Reach::gather && c->table.empty()) || (c->reach == Reach::given && c->entries() == 0))
        fail("{}: gather({}) has an empty table; name one element for each slot", where(factor), variable.name);
      if (!(kind.ports()[p].variadic && has_plain) && c->reach != Reach::shift)
        shape.add(*c, variable.name, variable.elements());
    }
  return shape.slots();
}

void connect(const Variables& variables, const Graph::Factor& factor, const PortSpec& spec, const Ends& ends,
             std::uint32_t slots, Resolved::Port& port) {
  if (spec.variadic)
    port = variadic_port(variables, factor, ends, slots);
  else
    connect_one(variables, factor, *ends[0], slots, port);
  constexpr std::size_t kFew = 16;  // that are searched sooner than a set is made
  std::unordered_set<std::uint32_t> met;
  for (const Connection* c : ends)
    if (ends.size() > kFew ? met.insert(c->variable.value).second
                           : std::ranges::find(port.variables, c->variable) == port.variables.end())
      port.variables.push_back(c->variable);
}

void check_terms(const Graph::Factor& factor, const Kind& kind, const Resolved::Factor& resolved) {
  for (const auto& [p, q] : kind.same_terms())
    if (resolved.ports[p].terms != resolved.ports[q].terms)
      fail(
          "{}: ports '{}' and '{}' must have equally many terms, but have {} and {}; say which variable goes where: "
          "{{\"{}\", ...}}, {{\"{}\", ...}}",
          where(factor), kind.ports()[p].name, kind.ports()[q].name, resolved.ports[p].terms, resolved.ports[q].terms,
          kind.ports()[p].name, kind.ports()[q].name);
}

void check_repetitions(const Variables& variables, const Graph::Factor& factor, const Resolved::Factor& resolved) {
  if (!resolved.has_given_table && may_repeat(resolved)) refuse_repetitions(variables, factor, resolved);
}

void refuse_given_tables(const Resolved& graph, std::string_view who) {
  for (const auto& factor : graph.factors)
    if (factor.has_given_table)
      fail(
          "{}: factor '{}' has a table that is given later, but all tables are needed here; use gather(...) with the "
          "table, or sweeps",
          who, factor.name());
}

namespace {

void refuse_if_informed(const Resolved& graph, const std::vector<std::uint32_t>& degree, const Resolved::Factor& factor,
                        const MessageFunction& message) {
  const auto& ports = factor.kind->ports();
  for (const VariableId v : factor.ports[*message.observed].variables) {
    const auto& variable = graph.variables[v.value];
    if (variable.cuts || (degree[v.value] == 1 && !variable.shared)) continue;
    std::vector<std::string> others;
    for (const MessageFunction& m : factor.kind->messages())
      if (m.target == message.target && !m.observed) others.push_back(m.method);
    fail(
        "factor '{}' ({}): its {} message to port '{}' is for observed variables on port '{}', but '{}' is not "
        "observed; give it "
        "another method: {}",
        factor.name(), factor.kind->name(), message.method, ports[message.target].name, ports[*message.observed].name,
        variable.name, joined(others));
  }
}

}  // namespace

void refuse_if_informed(const Resolved& graph) {
  std::vector<std::uint32_t> degree;
  for (const auto& factor : graph.factors)
    for (const auto& port : factor.ports) {
      if (port.message == nullptr || !port.message->observed) continue;
      if (degree.empty()) {
        degree.resize(graph.variables.size());
        for (const auto& other : graph.factors)
          for (const auto& end : other.ports)
            for (const VariableId v : end.variables) ++degree[v.value];
      }
      refuse_if_informed(graph, degree, factor, *port.message);
    }
}

}  // namespace dma
