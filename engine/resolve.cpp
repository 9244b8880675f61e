#include "engine/resolve.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "engine/error.h"

namespace dma {

namespace {

std::string where(const Graph::Factor& factor) { return fmt::format("factor '{}' ({})", factor.name(), factor.kind); }

std::string port_list(const Kind& kind) {
  std::vector<std::string> names;
  for (const PortSpec& p : kind.ports()) names.push_back(p.name + (p.variadic ? "..." : ""));
  return fmt::format("{}", fmt::join(names, ", "));
}

template <class Spec>
std::vector<std::string> names(const std::vector<Spec>& specs) {
  std::vector<std::string> list;
  for (const Spec& spec : specs) list.push_back(spec.name);
  return list;
}

// The connections of each port.
using Ends = ShortList<const Connection*>;
using PortEnds = std::vector<Ends>;

// Which connections go to which port: named ones by name, the others in order; a variadic port takes the surplus.
// `assigned` is overwritten: one list serves all factors.
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
      fail("{} has no port '{}'{}", where(factor), c.port.get(), suggestion(c.port.get(), names(specs)));
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

// The number of slots: what the identical (and gathered) ends of ports that are not variadic agree on.
std::uint32_t plate_size(const Graph& graph, const Graph::Factor& factor, const Kind& kind,
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
      fail("{}: gather({}) has an empty table; name one element for each slot", where(factor), graph[c.variable].name);
  for (std::size_t p = 0; p < ports.size(); ++p) {
    if (kind.ports()[p].variadic) continue;
    const Connection& c = *ports[p][0];
    if (c.reach == Reach::identical) agree(graph[c.variable].size, graph[c.variable].name);
    if (c.reach == Reach::gather) agree(static_cast<std::uint32_t>(c.table.size()), graph[c.variable].name);
  }
  if (slots > 0) return slots;
  // Only broadcast ends: the largest decides.
  for (const auto& ends : ports) slots = std::max(slots, graph[ends[0]->variable].size);
  return slots;
}

// The map from (slot, term) of one end to the elements of its variable, numbered from first_element.
IndexMap map_of(const Graph& graph, const Graph::Factor& factor, const Connection& c, std::uint32_t first_element,
                std::uint32_t count) {
  const auto& variable = graph[c.variable];
  const auto does_not_divide = [&](std::string_view way) {
    fail("{}: {}({}) has {} elements, which do not divide the plate of {} slots", where(factor), way, variable.name,
         variable.size, count);
  };
  switch (c.reach) {
    case Reach::identical: return {first_element, 1, IndexMap::kWhole, {}};
    case Reach::row:
      if (count % variable.size != 0) does_not_divide("row");
      return {first_element, count / variable.size, IndexMap::kWhole, {}};
    case Reach::column:
      if (count % variable.size != 0) does_not_divide("column");
      return {first_element, 1, variable.size, {}};
    case Reach::all_to_one:
      if (variable.size != 1)
        fail("{}: all_to_one({}) needs a variable of one element, but '{}' has {}", where(factor), variable.name,
             variable.name, variable.size);
      return {first_element, 1, 1, {}};
    case Reach::gather: {
      IndexMap map;
      for (const std::uint32_t index : c.table) {
        if (index >= variable.size)
          fail("{}: gather({}) asks for element {} but '{}' has {} elements", where(factor), variable.name, index,
               variable.name, variable.size);
        map.table.push_back(first_element + index);
      }
      return simplified(std::move(map));
    }
  }
  return {};
}

// The terms per slot that one end of a variadic port brings.
std::uint32_t terms_of(const Graph& graph, const Graph::Factor& factor, const Connection& c, std::uint32_t slots) {
  const auto size = c.reach == Reach::gather ? static_cast<std::uint32_t>(c.table.size()) : graph[c.variable].size;
  if (c.reach == Reach::all_to_one || c.reach == Reach::column) return size;
  if (c.reach == Reach::row) return 1;
  if (size % slots != 0)
    fail("{}: plate sizes do not fit: '{}' has {} elements, which do not divide among {} slots", where(factor),
         graph[c.variable].name, size, slots);
  return size / slots;
}

Resolved::Port variadic_port(const Graph& graph, const Graph::Factor& factor, const Ends& ends,
                             const std::vector<Resolved::Variable>& variables, std::uint32_t slots) {
  Resolved::Port port;
  port.terms = 0;
  std::vector<std::uint32_t> terms;
  std::vector<IndexMap> maps;
  for (const Connection* c : ends) {
    terms.push_back(terms_of(graph, factor, *c, slots));
    port.terms += terms.back();
    maps.push_back(map_of(graph, factor, *c, variables[c->variable.value].first_element, slots * terms.back()));
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

void check_families(const Graph& graph, const Graph::Factor& factor, const Kind& kind,
                    const PortEnds& ports) {
  const Graph::Variable* first = nullptr;
  for (std::size_t p = 0; p < ports.size(); ++p)
    for (const Connection* c : ports[p]) {
      const auto& variable = graph[c->variable];
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

void resolve_parameters(const Graph::Factor& factor, const Kind& kind, std::uint32_t slots, std::uint32_t terms,
                        ShortList<Resolved::Parameter>& resolved) {
  const auto& known = kind.parameters();
  for (std::size_t i = 0; i < factor.parameters.size(); ++i) {
    const std::string& given = factor.parameters[i].first;
    if (std::ranges::find(known, given, &ParameterSpec::name) == known.end())
      fail("{} has no parameter '{}'{}", where(factor), given, suggestion(given, names(known)));
    for (std::size_t j = 0; j < i; ++j)
      if (factor.parameters[j].first == given) fail("{}: parameter '{}' is given twice", where(factor), given);
  }
  resolved.reserve(known.size());
  for (const ParameterSpec& spec : known) {
    const auto given = std::ranges::find(factor.parameters, spec.name, &ParameterList::value_type::first);
    if (given == factor.parameters.end() && !spec.fallback)
      fail("{} needs the parameter '{}', a number in {}", where(factor), spec.name, describe(spec.domain));
    Resolved::Parameter& parameter = resolved.emplace_back();
    parameter.terms = spec.per_term ? terms : 1;
    if (given == factor.parameters.end()) parameter.values.push_back(*spec.fallback);
    else parameter.values = given->second.numbers;
    for (const double value : parameter.values)
      if (!spec.domain.contains(value))
        fail("{}: parameter '{}' is {}, but must be in {}{}{}", where(factor), spec.name, value, describe(spec.domain),
             spec.domain.advice.empty() ? "" : "; ", spec.domain.advice);
    const std::size_t size = parameter.values.size();
    if (spec.per_term && size == 1) parameter.values = ShortList<double>(terms, parameter.values[0]);
    parameter.per_slot = parameter.values.size() == std::size_t{slots} * parameter.terms && slots > 1;
    if (!parameter.per_slot && parameter.values.size() != parameter.terms)
      fail("{}: parameter '{}' has {} values; expected 1{} or {} (one per slot)", where(factor), spec.name, size,
           spec.per_term ? fmt::format(", {} (one per term)", terms) : "", std::size_t{slots} * parameter.terms);
  }
}

const MessageFunction* find_method(const Kind& kind, std::string_view method) {
  const auto found = std::ranges::find(kind.messages(), method, &MessageFunction::method);
  return found == kind.messages().end() ? nullptr : &*found;
}

// The method as the kind spells it; `place` says in words where it was asked for.
template <class Place>
std::string_view method_of(const Kind& kind, const std::string& method, const Place& place) {
  if (const MessageFunction* known = find_method(kind, method)) return known->method;
  fail("{}: no method '{}'{}", place(), method, suggestion(method, kind.methods()));
}

// A method no kind has would otherwise pass unseen on a graph whose messages are all exact.
std::string_view method_of_run(const Registry& registry, const std::string& method) {
  for (const auto& [kind_name, kind] : registry.kinds())
    if (const MessageFunction* known = find_method(kind, method)) return known->method;
  std::vector<std::string> known;
  for (const auto& [kind_name, kind] : registry.kinds())
    for (const std::string& of_kind : kind.methods())
      if (std::ranges::find(known, of_kind) == known.end()) known.push_back(of_kind);
  fail("compile: no method '{}'{}", method, suggestion(method, known));
}

// The message functions of a factor, port by port, whoever wants them.
using Messages = ShortList<const MessageFunction*, 4>;

Messages messages_of(const Resolved::Factor& factor) {
  Messages messages;
  for (std::size_t p = 0; p < factor.ports.size(); ++p) {
    messages.push_back(factor.kind->find_message(factor.method, p));
    if (messages.back() == nullptr)
      fail("factor '{}' ({}): no message to port '{}' by method '{}'{}", factor.name(), factor.kind->name(),
           factor.kind->ports()[p].name, factor.method, suggestion(factor.method, factor.kind->methods()));
  }
  return messages;
}

void send_where_wanted(const Resolved& graph, const Messages& messages, Resolved::Factor& factor) {
  const auto wants = [&](VariableId v) { return graph.variables[v.value].wants_messages; };
  for (std::size_t p = 0; p < factor.ports.size(); ++p) {
    auto& port = factor.ports[p];
    port.message = std::ranges::any_of(port.variables, wants) ? messages[p] : nullptr;
  }
}

const Kind& kind_of(const Graph::Factor& factor, const Registry& registry) {
  try {
    return registry.kind(factor.kind);
  } catch (const Error& error) {
    fail("factor '{}': {}", factor.name(), error.what());
  }
}

// Resolves factors one after the other. What those of one kind have in common is looked up once.
class FactorResolver {
 public:
  FactorResolver(const Graph& graph, const Registry& registry, const CompileOptions& options, const Resolved& so_far)
      : graph_(graph), registry_(registry), so_far_(so_far),
        method_of_run_(method_of_run(registry, options.method)), connected_(so_far.variables.size()) {
    for (const auto& [kind_name, method] : options.kind_methods) {
      const Kind& kind = registry.kind(kind_name);
      kind_methods_[&kind] = method_of(kind, method, [&] { return fmt::format("kind '{}'", kind_name); });
    }
  }

  void resolve(const Graph::Factor& factor, Resolved::Factor& resolved) {
    if (known_ == nullptr || known_->kind->name() != factor.kind) turn_to(factor);
    const Kind& kind = *known_->kind;
    resolved.kind = &kind;
    resolved.number = factor.number;
    resolved.given_name = factor.given_name;
    resolved.method =
        factor.method.empty() ? known_->method : method_of(kind, factor.method, [&] { return where(factor); });
    assign_ports(factor, kind, ports_);
    check_families(graph_, factor, kind, ports_);
    resolved.slots = plate_size(graph_, factor, kind, ports_);
    const std::uint32_t terms = resolve_ports(factor, resolved);
    resolve_parameters(factor, kind, resolved.slots, terms, resolved.parameters);
    if (!factor.method.empty()) return resolve_messages(so_far_, resolved);
    if (known_->messages.empty()) known_->messages = messages_of(resolved);
    send_where_wanted(so_far_, known_->messages, resolved);
  }

  void check_all_connected() const {
    const auto lonely = std::ranges::find(connected_, false);
    if (lonely == connected_.end()) return;
    fail("variable '{}' is connected to nothing; connect a factor to it or remove it",
         so_far_.variables[static_cast<std::size_t>(lonely - connected_.begin())].name);
  }

 private:
  struct Known {
    const Kind* kind;
    std::string_view method;  // that a factor of this kind has unless it names another
    Messages messages = {};   // by that method; empty until a factor needs them
  };

  void turn_to(const Graph::Factor& factor) {
    const Kind& kind = kind_of(factor, registry_);
    const auto own = kind_methods_.find(&kind);
    const std::string_view method = own == kind_methods_.end() ? method_of_run_ : own->second;
    known_ = &all_known_.try_emplace(&kind, Known{&kind, method}).first->second;
  }

  // Returns the largest number of terms.
  std::uint32_t resolve_ports(const Graph::Factor& factor, Resolved::Factor& resolved) {
    std::uint32_t terms = 1;
    resolved.ports.reserve(ports_.size());
    for (std::size_t p = 0; p < ports_.size(); ++p) {
      Resolved::Port& port = resolved.ports.emplace_back();
      if (resolved.kind->ports()[p].variadic) {
        port = variadic_port(graph_, factor, ports_[p], so_far_.variables, resolved.slots);
        terms = std::max(terms, port.terms);
      } else {
        const Connection& c = *ports_[p][0];
        port.elements = map_of(graph_, factor, c, so_far_.variables[c.variable.value].first_element, resolved.slots);
      }
      for (const Connection* c : ports_[p]) {
        if (std::ranges::find(port.variables, c->variable) == port.variables.end()) port.variables.push_back(c->variable);
        connected_[c->variable.value] = true;
      }
    }
    return terms;
  }

  const Graph& graph_;
  const Registry& registry_;
  const Resolved& so_far_;
  const std::string_view method_of_run_;
  std::map<const Kind*, std::string_view> kind_methods_;
  std::map<const Kind*, Known> all_known_;
  Known* known_ = nullptr;       // the kind of the factor before
  PortEnds ports_;               // of the factor at hand
  std::vector<bool> connected_;  // by variable
};

}  // namespace

void resolve_messages(const Resolved& graph, Resolved::Factor& factor) {
  send_where_wanted(graph, messages_of(factor), factor);
}

bool connects_shared_alone(const Resolved& graph, const Resolved::Factor& factor) {
  return std::ranges::all_of(factor.ports, [&](const Resolved::Port& port) {
    return std::ranges::all_of(port.variables, [&](VariableId v) { return graph.variables[v.value].shared; });
  });
}

Resolved resolve(const Graph& graph, const Registry& registry, const CompileOptions& options) {
  Resolved resolved;
  resolved.variables.reserve(graph.variables().size());
  for (const auto& variable : graph.variables()) {
    resolved.variables.push_back(
        {variable.name, resolved.elements, variable.size, variable.family, variable.observed, variable.shared});
    resolved.elements += variable.size;
  }
  for (const VariableId v : options.unobserved) resolved.variables.at(v.value).observed = false;
  for (auto& variable : resolved.variables) variable.wants_messages = !variable.observed;
  for (const VariableId v : options.predicted) resolved.variables.at(v.value).wants_messages = true;
  std::uint32_t id = 0;
  resolved.factors.reserve(graph.factors().size());
  FactorResolver resolver(graph, registry, options, resolved);
  for (const auto& factor : graph.factors()) {
    Resolved::Factor& last = resolved.factors.emplace_back();
    resolver.resolve(factor, last);
    last.origins.push_back(FactorId{id++});
  }
  resolver.check_all_connected();
  return resolved;
}

}  // namespace dma
