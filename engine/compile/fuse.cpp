#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "engine/compile/resolve.h"

namespace dma {

namespace {

struct End {
  std::size_t factor, port;
};

// True if all messages of the factor are by this method.
bool has_messages_by(const Resolved::Factor& factor, std::string_view method) {
  for (std::size_t p = 0; p < factor.ports.size(); ++p)
    if (const MessageFunction* m = factor.kind->find_message(*factor.method, p); m != nullptr && m->method != method)
      return false;
  return true;
}

// True if the port reaches one whole variable, element for element.
bool covers_one_variable(const Resolved& graph, const Resolved::Factor& factor, const Resolved::Port& port) {
  if (port.variables.size() != 1 || !port.elements.is_identical()) return false;
  const auto& variable = graph.variables[port.variables[0].value];
  return port.elements.base == variable.first_element && factor.slots * port.terms == variable.size;
}

// The consumer that alone reads what the producer writes, if the rule fits this producer.
std::optional<End> matching_consumer(const Resolved& graph, const std::vector<std::vector<End>>& ends,
                                     const Resolved::Factor& producer, const Fusion& rule) {
  // Factors with their own damping or tables need their own messages.
  const auto is_apart = [](const Resolved::Factor& f) { return f.has_given_table || f.damping != kDampedBySchedule; };
  if (producer.kind->name() != rule.producer || is_apart(producer)) return {};
  const auto& port = producer.ports[producer.kind->port(rule.via)];
  if (!covers_one_variable(graph, producer, port)) return {};
  const auto& variable = graph.variables[port.variables[0].value];
  const auto& readers = ends[port.variables[0].value];
  if (variable.observed || variable.shared || readers.size() != 2) return {};
  for (const End& end : readers) {
    const auto& consumer = graph.factors[end.factor];
    if (is_apart(consumer) || consumer.kind->name() != rule.consumer || end.port != consumer.kind->port(rule.into))
      continue;
    if (has_messages_by(consumer, rule.consumer_method) &&
        covers_one_variable(graph, consumer, consumer.ports[end.port]))
      return end;
  }
  return {};
}

const Resolved::Parameter* find_parameter(const Resolved::Factor& factor, std::string_view name) {
  const auto& specs = factor.kind->parameters();
  const auto found = std::ranges::find(specs, name, &ParameterSpec::name);
  return found == specs.end() ? nullptr : &(*factor.parameters)[static_cast<std::size_t>(found - specs.begin())];
}

// True if every parameter that the fused kind lacks has its default.
bool others_have_defaults(const Resolved::Factor& factor, const Kind& fused) {
  for (std::size_t i = 0; i < factor.parameters->size(); ++i) {
    const ParameterSpec& spec = factor.kind->parameters()[i];
    if (std::ranges::find(fused.parameters(), spec.name, &ParameterSpec::name) != fused.parameters().end()) continue;
    if (!spec.fallback ||
        !std::ranges::all_of((*factor.parameters)[i].values, [&](double v) { return v == *spec.fallback; }))
      return false;
  }
  return true;
}

// The parameters of the fused factor; nothing if one of them, or of the pair, has no counterpart.
std::optional<Resolved::Parameters> parameters_of_both(const Resolved::Factor& producer,
                                                       const Resolved::Factor& consumer, std::uint32_t terms,
                                                       const Kind& kind) {
  if (!others_have_defaults(producer, kind) || !others_have_defaults(consumer, kind)) return {};
  Resolved::Parameters parameters;
  for (const ParameterSpec& spec : kind.parameters()) {
    const Resolved::Parameter *of_consumer = find_parameter(consumer, spec.name),
                              *of_producer = find_parameter(producer, spec.name);
    if (of_consumer != nullptr && of_producer != nullptr) return {};
    Resolved::Parameter& parameter = parameters.emplace_back();
    parameter.terms = spec.per_term ? terms : 1;
    if (of_consumer != nullptr) {
      if (of_consumer->terms != parameter.terms) return {};
      parameter = *of_consumer;
    } else if (of_producer != nullptr ? of_producer->values.size() == 1 : spec.fallback.has_value()) {
      parameter.values =
          ShortList<double>(parameter.terms, of_producer != nullptr ? of_producer->values[0] : *spec.fallback);
    } else {
      return {};
    }
  }
  return parameters;
}

// Returns nothing if the fused kind cannot express the pair.
std::optional<Resolved::Factor> fused(const Resolved& graph, const Resolved::Factor& producer,
                                      const Resolved::Factor& consumer, const Fusion& rule, const Kind& kind) {
  Resolved::Factor both;
  both.given_name = fmt::format("{}+{}", producer.name(), consumer.name());
  both.kind = &kind;
  both.method = producer.method;
  both.slots = consumer.slots;
  auto origins = producer.origins();
  const auto more = consumer.origins();
  origins.append(more.begin(), more.end());
  both.fused_from = std::vector<FactorId>(origins.begin(), origins.end());
  const std::size_t via = producer.kind->port(rule.via), into = consumer.kind->port(rule.into);
  for (std::size_t p = 0; p < producer.ports.size(); ++p)
    if (p != via) {
      both.ports.push_back(producer.ports[p]);
      both.ports.back().terms = producer.ports[p].terms * consumer.ports[into].terms;  // as many as the port had in all
    }
  for (std::size_t p = 0; p < consumer.ports.size(); ++p)
    if (p != into) both.ports.push_back(consumer.ports[p]);
  // The fused messages must be by the producer's own method, not by a fallback.
  const MessageFunction* const through = producer.kind->find_message(*producer.method, via);
  if (through == nullptr || !has_messages_by(producer, through->method) || !has_messages_by(both, through->method))
    return {};
  for (std::size_t p = 0; p < both.ports.size(); ++p)
    if (kind.find_message(*both.method, p) == nullptr) return {};
  auto parameters = parameters_of_both(producer, consumer, consumer.ports[into].terms, kind);
  if (!parameters) return {};
  both.parameters = &graph.parameters->emplace_back(std::move(*parameters));
  resolve_messages(graph, both);
  return both;
}

// Fuses by one rule. A factor takes part once per rule.
void fuse_by(const Fusion& rule, const Kind& kind, Resolved& graph) {
  std::vector<std::vector<End>> ends(graph.variables.size());
  for (std::size_t f = 0; f < graph.factors.size(); ++f)
    for (std::size_t p = 0; p < graph.factors[f].ports.size(); ++p)
      for (const VariableId v : graph.factors[f].ports[p].variables) ends[v.value].push_back({f, p});
  std::vector<bool> taken(graph.factors.size()), gone(graph.factors.size());
  for (std::size_t f = 0; f < graph.factors.size(); ++f) {
    if (taken[f]) continue;
    const auto end = matching_consumer(graph, ends, graph.factors[f], rule);
    if (!end || taken[end->factor] || end->factor == f) continue;
    auto both = fused(graph, graph.factors[f], graph.factors[end->factor], rule, kind);
    if (!both) continue;
    graph.factors[f] = std::move(*both);
    taken[f] = taken[end->factor] = gone[end->factor] = true;
  }
  if (std::ranges::find(gone, true) == gone.end()) return;
  std::vector<Resolved::Factor> left;
  for (std::size_t f = 0; f < graph.factors.size(); ++f)
    if (!gone[f]) left.push_back(std::move(graph.factors[f]));
  graph.factors = std::move(left);
}

}  // namespace

void fuse(Resolved& graph, const Registry& registry) {
  for (const Fusion& rule : registry.fusions()) fuse_by(rule, registry.kind(rule.fused), graph);
}

}  // namespace dma
