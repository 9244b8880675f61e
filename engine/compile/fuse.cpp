#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "engine/compile/resolve.h"

namespace dma {

namespace {

struct End {
  std::size_t factor, port;
};

bool has_default_parameters(const Resolved::Factor& factor) {
  for (std::size_t i = 0; i < factor.parameters.size(); ++i) {
    const auto fallback = factor.kind->parameters()[i].fallback;
    if (!fallback || !std::ranges::all_of(factor.parameters[i].values, [&](double v) { return v == *fallback; }))
      return false;
  }
  return true;
}

// The port reaches one whole variable, element for element.
bool covers_one_variable(const Resolved& graph, const Resolved::Factor& factor, const Resolved::Port& port) {
  if (port.variables.size() != 1 || !port.elements.is_identical()) return false;
  const auto& variable = graph.variables[port.variables[0].value];
  return port.elements.base == variable.first_element && factor.slots * port.terms == variable.size;
}

// The consumer that alone reads what the producer writes, if the rule fits this producer.
std::optional<End> matching_consumer(const Resolved& graph, const std::vector<std::vector<End>>& ends,
                                     const Resolved::Factor& producer, const Fusion& rule) {
  if (producer.kind->name() != rule.producer || !has_default_parameters(producer)) return {};
  const auto& port = producer.ports[producer.kind->port(rule.via)];
  if (!covers_one_variable(graph, producer, port)) return {};
  const auto& variable = graph.variables[port.variables[0].value];
  const auto& readers = ends[port.variables[0].value];
  if (variable.observed || variable.shared || readers.size() != 2) return {};
  for (const End& end : readers) {
    const auto& consumer = graph.factors[end.factor];
    if (consumer.kind->name() != rule.consumer || end.port != consumer.kind->port(rule.into)) continue;
    if (has_default_parameters(consumer) && covers_one_variable(graph, consumer, consumer.ports[end.port])) return end;
  }
  return {};
}

Resolved::Factor fused(const Resolved& graph, const Resolved::Factor& producer, const Resolved::Factor& consumer,
                       const Fusion& rule, const Kind& kind) {
  Resolved::Factor both;
  both.given_name = fmt::format("{}+{}", producer.name(), consumer.name());
  both.kind = &kind;
  both.method = producer.method;
  both.slots = consumer.slots;
  both.origins = producer.origins;
  both.origins.append(consumer.origins.begin(), consumer.origins.end());
  const std::size_t via = producer.kind->port(rule.via), into = consumer.kind->port(rule.into);
  for (std::size_t p = 0; p < producer.ports.size(); ++p)
    if (p != via) {
      both.ports.push_back(producer.ports[p]);
      both.ports.back().terms = consumer.ports[into].terms;
    }
  for (std::size_t p = 0; p < consumer.ports.size(); ++p)
    if (p != into) both.ports.push_back(consumer.ports[p]);
  // The fused messages must be by the method the pair would use, not by one that merely serves.
  const std::string& method = producer.kind->find_message(producer.method, via)->method;
  for (std::size_t p = 0; p < both.ports.size(); ++p) {
    const MessageFunction* message = kind.find_message(both.method, p);
    if (message == nullptr || message->method != method) return {};
  }
  resolve_messages(graph, both);
  return both;
}

}  // namespace

void fuse(Resolved& graph, const Registry& registry) {
  std::vector<std::vector<End>> ends(graph.variables.size());
  for (std::size_t f = 0; f < graph.factors.size(); ++f)
    for (std::size_t p = 0; p < graph.factors[f].ports.size(); ++p)
      for (const VariableId v : graph.factors[f].ports[p].variables) ends[v.value].push_back({f, p});
  std::vector<bool> gone(graph.factors.size());
  for (const Fusion& rule : registry.fusions())
    for (auto& producer : graph.factors) {
      const auto consumer = matching_consumer(graph, ends, producer, rule);
      if (!consumer || gone[consumer->factor]) continue;
      Resolved::Factor both = fused(graph, producer, graph.factors[consumer->factor], rule, registry.kind(rule.fused));
      if (both.kind == nullptr) continue;
      producer = std::move(both);
      gone[consumer->factor] = true;
    }
  std::vector<Resolved::Factor> left;
  for (std::size_t f = 0; f < graph.factors.size(); ++f)
    if (!gone[f]) left.push_back(std::move(graph.factors[f]));
  graph.factors = std::move(left);
}

}  // namespace dma
