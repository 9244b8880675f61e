#include "engine/compile/resolve.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "engine/compile/match_ports.h"
#include "engine/kinds/methods_of_kinds.h"
#include "engine/support/sizes.h"

namespace dma {

namespace {

ShortList<double> prepared(const Graph::Factor& factor, const ParameterSpec& spec, const ShortList<double>& given,
                           const PortComponents& components) {
  try {
    const auto numbers = spec.prepare(std::span(given.begin(), given.size()), components);
    return {numbers.begin(), numbers.end()};
  } catch (const Error& error) {
    fail("{}: parameter '{}': {}", where(factor), spec.name, error.what());
  }
}

// `components` returns the components of the ends of each port, for prepared parameters.
template <class ComponentsOf>
void resolve_parameters(const Graph::Factor& factor, const Kind& kind, std::uint32_t slots, std::uint32_t terms,
                        const ComponentsOf& components, Resolved::Parameters& resolved) {
  const auto& known = kind.parameters();
  for (std::size_t i = 0; i < factor.parameters.size(); ++i) {
    const std::string& given = factor.parameters[i].first;
    if (std::ranges::find(known, given, &ParameterSpec::name) == known.end())
      fail("{} has no parameter '{}'{}", where(factor), given, suggestion(given, known, &ParameterSpec::name));
    for (std::size_t j = 0; j < i; ++j)
      if (factor.parameters[j].first == given) fail("{}: parameter '{}' is given twice", where(factor), given);
  }
  resolved.reserve(known.size());
  for (const ParameterSpec& spec : known) {
    const auto given = std::ranges::find(factor.parameters, spec.name, &ParameterList::value_type::first);
    if (given == factor.parameters.end() && !spec.fallback)
      fail("{} needs the parameter '{}', a number in {}", where(factor), spec.name, describe(spec.domain));
    Resolved::Parameter& parameter = resolved.emplace_back();
    parameter.terms = spec.per_term ? terms : spec.count;
    if (given == factor.parameters.end()) parameter.values.push_back(*spec.fallback);
    else parameter.values = given->second.numbers;
    for (const double value : parameter.values)
      if (!spec.domain.contains(value))
        fail("{}: parameter '{}' is {}, but must be in {}{}{}", where(factor), spec.name, value, describe(spec.domain),
             spec.domain.advice.empty() ? "" : "; ", spec.domain.advice);
    if (spec.prepare) {
      parameter.values = prepared(factor, spec, parameter.values, components());
      parameter.terms = checked_size(parameter.values.size(),
                                     [&] { return fmt::format("{}: parameter '{}'", where(factor), spec.name); });
      continue;
    }
    const std::size_t size = parameter.values.size();
    if (size == 1) parameter.values = ShortList<double>(parameter.terms, parameter.values[0]);
    parameter.per_slot = parameter.values.size() == std::size_t{slots} * parameter.terms && slots > 1;
    if (!parameter.per_slot && parameter.values.size() != parameter.terms)
      fail("{}: parameter '{}' has {} values; expected 1{}{}", where(factor), spec.name, size,
           parameter.terms == 1 ? ""
           : spec.per_term      ? fmt::format(" or {} (one per term)", parameter.terms)
                                : fmt::format(" or {}", parameter.terms),
           slots > 1 ? fmt::format(" or {} (one per slot)", std::size_t{slots} * parameter.terms) : "");
  }
}

const MessageFunction* find_method(const Kind& kind, std::string_view method) {
  const auto found = std::ranges::find(kind.messages(), method, &MessageFunction::method);
  return found == kind.messages().end() ? nullptr : &*found;
}

// The method as the kind spells it; `place` describes the request in errors.
template <class Place>
const std::string* method_of(const Kind& kind, std::string_view method, const Place& place) {
  if (const MessageFunction* known = find_method(kind, method)) return &known->method;
  fail("{}: no method '{}'{}", place(), method, suggestion(method, kind.methods()));
}

// Refuses a method that no kind has, even for a graph whose messages are all exact.
const std::string* method_of_run(const Registry& registry, const std::string& method) {
  static const std::string kDefault = CompileOptions{}.method;
  if (method == kDefault) return &kDefault;  // nobody asked for it: kinds without it have others
  for (const auto& [kind_name, kind] : registry.kinds())
    if (const MessageFunction* known = find_method(kind, method)) return &known->method;
  fail("compile: no method '{}'{}; joint is a solver: compile(graph, joint(), ...)", method,
       suggestion(method, registry.methods()));
}

constexpr std::uint32_t kLargestNumber = 0x3fffffffu;  // a factor has 30 bits for its number

// The message functions of a factor by port; null if its method has none.
using Messages = ShortList<const MessageFunction*, 4>;

Messages messages_of(const Resolved::Factor& factor) {
  Messages messages;
  for (std::size_t p = 0; p < factor.ports.size(); ++p)
    messages.push_back(factor.kind->find_message(*factor.method, p));
  return messages;
}

void send_where_wanted(const Resolved& graph, const Messages& messages, Resolved::Factor& factor) {
  const auto wants = [&](VariableId v) { return graph.variables[v.value].wants_messages; };
  for (std::size_t p = 0; p < factor.ports.size(); ++p) {
    auto& port = factor.ports[p];
    const auto wanting = std::ranges::find_if(port.variables, wants);
    port.message = wanting == port.variables.end() ? nullptr : messages[p];
    // compile() for sweeps refuses kinds of the joint solver.
    const Kind& kind = *factor.kind;
    const bool is_silent = kind.messages().empty() && (kind.linear_view() || kind.gaussian_row());
    if (wanting != port.variables.end() && port.message == nullptr && !is_silent)
      fail("factor '{}' ({}) has no message to port '{}', which leads to '{}'; {}", factor.name(), factor.kind->name(),
           factor.kind->ports()[p].name, graph.variables[wanting->value].name,
           missing_message(*factor.kind, *factor.method, p));
  }
}

const Kind& kind_of(const Graph::Factor& factor, const Registry& registry) {
  try {
    return registry.kind(factor.kind);
  } catch (const Error& error) {
    fail("factor '{}': {}", factor.name(), error.what());
  }
}

std::shared_ptr<const GivenNames> given_names(const Graph& graph) {
  auto names = std::make_shared<GivenNames>();
  const auto count = static_cast<std::uint32_t>(graph.variables().size());
  for (std::uint32_t v = 0; v < count; ++v) {
    if (const auto categories = graph.categories(VariableId{v}); !categories.empty())
      names->categories[v].assign(categories.begin(), categories.end());
    const std::string* const given = graph.given_name(VariableId{v});
    if (given == nullptr) continue;
    names->list.push_back(*given);
    names->of_variable.resize(count);
    names->of_variable[v] = static_cast<std::uint32_t>(names->list.size());
  }
  return names;
}

Family family_of(const Graph::Variable& variable, const Registry& registry) {
  if (variable.family.empty()) return {};
  try {
    return registry.family(variable.family);
  } catch (const Error& error) {
    fail("variable '{}': {}", variable.name, error.what());
  }
}

// Resolves factors one after the other; looks up data shared by factors of one kind once.
class FactorResolver {
 public:
  FactorResolver(const Registry& registry, const CompileOptions& options, const Resolved& so_far)
      : registry_(registry), so_far_(so_far),
        method_of_run_(method_of_run(registry, options.method)),
        is_usual_method_(options.method == CompileOptions{}.method),
        connected_(so_far.variables.size()) {
    for (const auto& [kind_name, method] : options.kind_methods) {
      const Kind& kind = registry.kind(kind_name);
      kind_methods_[&kind] = method_of(kind, method, [&name = kind_name] { return fmt::format("kind '{}'", name); });
    }
  }

  // The fast path for millions of scalar factors: each differs from an earlier one only in its variables and needs no
  // new checks. Returns false for other factors.
  bool resolve_like_one_before(const Graph::Factor& factor, Resolved::Factor& resolved) {
    const Pattern& pattern = pattern_of(factor);
    const std::span ends(factor.connections.begin(), factor.connections.size());
    if (pattern.kind != factor.kind.data() || pattern.given != factor.parameters.data() || !fits(pattern, ends))
      return false;
    resolved.kind = pattern.known->kind;
    resolved.method = pattern.known->method;
    resolved.number = factor.number & kLargestNumber;
    resolved.parameters = pattern.parameters;
    for (std::size_t p = 0; p < ends.size(); ++p) {
      const VariableId v = ends[p].variable;
      const auto& variable = so_far_.variables[v.value];
      Resolved::Port& port = resolved.ports.emplace_back();
      port.message = variable.wants_messages ? pattern.known->messages[p] : nullptr;
      port.variables.push_back(v);
      port.elements.base = variable.first_element;
      connected_[v.value] = true;
    }
    return true;
  }

  // Makes the resolved factor a pattern for later ones.
  void remember(const Graph::Factor& factor, const Resolved::Factor& resolved) {
    Pattern& pattern = pattern_of(factor);
    pattern = {factor.kind.data(), factor.parameters.data(), known_, resolved.parameters};
    const std::span ends(factor.connections.begin(), factor.connections.size());
    const bool is_scalar = resolved.ports.size() == ends.size() &&
                           std::ranges::all_of(resolved.ports, [](const auto& port) { return port.terms == 1; });
    if (!is_scalar || !fits(pattern, ends)) pattern = {};
  }

  void resolve(const Graph::Factor& factor, Resolved::Factor& resolved) {
    if (known_ == nullptr || known_->kind->name() != factor.kind) turn_to(factor);
    const Kind& kind = *known_->kind;
    resolved.kind = &kind;
    resolved.number = factor.number & kLargestNumber;
    resolved.is_along_chain = Lags(factor).any();
    resolved.has_given_table =
        std::ranges::any_of(factor.connections, [](const Connection& c) { return c.reach == Reach::given; });
    if (!factor.given_name.empty()) resolved.given_name = std::string(factor.given_name);
    resolved.method =
        factor.method.empty() ? known_->method : method_of(kind, factor.method, [&] { return where(factor); });
    resolved.damping = factor.damping;
    if (factor.damping != kDampedBySchedule && !(factor.damping >= 0 && factor.damping < 1))
      fail("{}: damping is {}; it must be in [0, 1), or left to the schedule", where(factor), factor.damping);
    assign_ports(factor, kind, ports_);
    check_families(so_far_.variables, factor, kind, ports_);
    resolved.slots = plate_size(so_far_.variables, factor, kind, ports_);
    const std::uint32_t terms = resolve_ports(factor, resolved);
    check_terms(factor, kind, resolved);
    check_repetitions(so_far_.variables, factor, resolved);
    resolve_parameters(
        factor, kind, resolved.slots, terms,
        [&] { return components_of_ends(so_far_.variables, factor, kind, resolved.slots, ports_); },
        so_far_.parameters->emplace_back());
    resolved.parameters = &so_far_.parameters->back();
    if (!factor.method.empty()) return resolve_messages(so_far_, resolved);
    if (known_->messages.empty()) known_->messages = messages_of(resolved);
    send_where_wanted(so_far_, known_->messages, resolved);
  }

  std::vector<const Kind*> kinds() const {
    std::vector<const Kind*> met;
    for (const auto& [kind, known] : all_known_) met.push_back(kind);
    return met;
  }
  // True if some kind has a message restricted to observed variables.
  bool has_message_for_observed() const { return is_for_observed_; }

  void check_all_connected() const {
    const auto isolated = std::ranges::find(connected_, false);
    if (isolated == connected_.end()) return;
    fail("variable '{}' is connected to nothing; connect a factor to it or remove it",
         so_far_.variables[static_cast<std::size_t>(isolated - connected_.begin())].name);
  }

 private:
  struct Known {
    const Kind* kind;
    const std::string* method;  // that a factor of this kind has unless it names another
    Messages messages = {};     // by that method; empty until a factor needs them
  };

  // The shared data of plain factors that differ only in their scalar variables.
  struct Pattern {
    const char* kind = nullptr;  // as the graph keeps it, as are
    const ParameterList::value_type* given = nullptr;
    const Known* known = nullptr;
    const Resolved::Parameters* parameters = nullptr;
  };

  Pattern& pattern_of(const Graph::Factor& factor) {
    const auto bits = reinterpret_cast<std::uintptr_t>(factor.kind.data()) ^
                      reinterpret_cast<std::uintptr_t>(factor.parameters.data()) * 3;
    return patterns_[bits / alignof(ParameterList) % patterns_.size()];
  }

  bool fits(const Pattern& pattern, std::span<const Connection> ends) const {
    if (ends.size() != pattern.known->kind->ports().size()) return false;
    for (std::size_t p = 0; p < ends.size(); ++p) {
      const auto& variable = so_far_.variables[ends[p].variable.value];
      if (variable.size != 1 || variable.family != Family()) return false;
      if (variable.wants_messages && pattern.known->messages[p] == nullptr) return false;
      for (std::size_t q = 0; q < p; ++q)
        if (ends[q].variable == ends[p].variable) return false;
    }
    return true;
  }

  void turn_to(const Graph::Factor& factor) {
    const Kind& kind = kind_of(factor, registry_);
    const auto own = kind_methods_.find(&kind);
    const std::string* method = own == kind_methods_.end() ? method_of_run_ : own->second;
    if (own == kind_methods_.end() && is_usual_method_)
      if (const std::string other = method_instead_of(*method, kind); !other.empty())
        method = &find_method(kind, other)->method;
    const auto [entry, is_new] = all_known_.try_emplace(&kind, Known{&kind, method});
    known_ = &entry->second;
    if (is_new)
      is_for_observed_ |= std::ranges::any_of(kind.messages(), [](const auto& m) { return m.observed.has_value(); });
  }

  // Returns the largest number of terms.
  std::uint32_t resolve_ports(const Graph::Factor& factor, Resolved::Factor& resolved) {
    std::uint32_t terms = 1;
    resolved.ports.reserve(ports_.size());
    for (std::size_t p = 0; p < ports_.size(); ++p) {
      Resolved::Port& port = resolved.ports.emplace_back();
      connect(so_far_.variables, factor, resolved.kind->ports()[p], ports_[p], resolved.slots, port);
      terms = std::max(terms, port.terms);
      for (const VariableId v : port.variables) connected_[v.value] = true;
    }
    return terms;
  }

  const Registry& registry_;
  const Resolved& so_far_;
  const std::string* const method_of_run_;
  const bool is_usual_method_;  // true if the method of the run is the default: a kind without it may then take another
  std::map<const Kind*, const std::string*> kind_methods_;
  std::map<const Kind*, Known> all_known_;
  Known* known_ = nullptr;       // the kind of the factor before
  bool is_for_observed_ = false;
  std::array<Pattern, 64> patterns_ = {};  // the last ones, by a hash
  PortEnds ports_;               // ends of the factor at hand
  std::vector<bool> connected_;  // by variable
};

}  // namespace

ShortList<FactorId> Resolved::Factor::origins() const {
  if (fused_from.empty()) return {FactorId{number}};
  return {fused_from.begin(), fused_from.end()};
}

void resolve_messages(const Resolved& graph, Resolved::Factor& factor) {
  send_where_wanted(graph, messages_of(factor), factor);
}

bool connects_shared_alone(const Resolved& graph, const Resolved::Factor& factor) {
  return std::ranges::all_of(factor.ports, [&](const Resolved::Port& port) {
    return std::ranges::all_of(port.variables, [&](VariableId v) { return graph.variables[v.value].shared; });
  });
}

Resolved resolve_variables(const Graph& graph, const Registry& registry) {
  if (graph.has_forgotten())
    fail("compile: this graph has forgotten its oldest nodes, and only a whole one can be compiled; build another one");
  Resolved resolved;
  resolved.mark = graph.mark();
  resolved.variables.reserve(graph.variables().size());
  resolved.names = given_names(graph);
  const auto variables = static_cast<std::uint32_t>(graph.variables().size());
  for (std::uint32_t v = 0; v < variables; ++v) {
    const Graph::Variable variable = graph[VariableId{v}];
    const NodeName name = resolved.names->name(v);  // outlives the graph
    const auto what = [&] { return fmt::format("variable '{}': the elements of the graph up to it", name); };
    const Family family = family_of(variable, registry);
    const std::uint32_t size = multiply_sizes(variable.size, family.components(), what);
    resolved.variables.push_back({name, resolved.elements, size, family, variable.observed, variable.shared});
    resolved.elements = add_sizes(resolved.elements, size, what);
  }
  return resolved;
}

Resolved resolve(const Graph& graph, const Registry& registry, const CompileOptions& options) {
  Resolved resolved = resolve_variables(graph, registry);
  const auto named_in = [&](std::string_view option, VariableId v) -> Resolved::Variable& {
    if (v.value >= resolved.variables.size() || !v.is_of(graph.mark()))
      fail("compile: {} names a variable that is not of this graph (number {} of {})", option, v.value,
           resolved.variables.size());
    return resolved.variables[v.value];
  };
  for (const VariableId v : options.unobserved) named_in("unobserved", v).observed = false;
  for (auto& variable : resolved.variables) variable.wants_messages = !(variable.cuts = variable.observed);
  for (const VariableId v : options.may_be_missing) {
    Resolved::Variable& variable = named_in("may_be_missing", v);
    variable.wants_messages = true;
    variable.cuts = false;
  }
  for (const VariableId v : options.predicted) named_in("predicted", v).wants_messages = true;
  if (graph.has_gates())
    for (const Graph::Factor& gated : graph.factors())
      if (!gated.when.empty())
        fail("factor '{}' counts only where '{}' is {}; compile the graph with gates(...), such as gates(exact())",
             gated.name(), graph.name(gated.when[0].variable), gated.when[0].value);
  const auto factors = static_cast<std::uint32_t>(graph.factors().size());
  resolved.factors.reserve(factors);
  FactorResolver resolver(registry, options, resolved);
  Graph::Factor factor;
  for (std::uint32_t f = 0; f < factors; ++f) {
    Resolved::Factor& last = resolved.factors.emplace_back();
    graph.read(f, factor);
    if (factor.is_plain && resolver.resolve_like_one_before(factor, last)) continue;
    resolver.resolve(factor, last);
    if (factor.is_plain) resolver.remember(factor, last);
    resolved.has_plates |= last.slots > 1 || last.is_along_chain;
  }
  resolved.kinds = resolver.kinds();
  if (!options.is_part) resolver.check_all_connected();
  if (resolver.has_message_for_observed()) refuse_if_informed(resolved);
  return resolved;
}

}  // namespace dma
