#include "engine/compile/memory_need.h"

#include <fmt/format.h>

#include "engine/compile/match_ports.h"
#include "engine/graph/plate.h"

namespace dma {

namespace {

// Measured with `dma infer`, which keeps all messages and computes beliefs and evidence.
constexpr double kBytesPerElement = 150, kBytesPerMessage = 200, kBytesPerParameter = 40, kBytesPerNode = 500;

double messages_of_slot(const Resolved& graph, const Graph::Factor& factor, const Kind& kind, std::uint32_t slots,
                        const PortEnds& ports) {
  double messages = 0;
  for (std::size_t p = 0; p < ports.size(); ++p)
    for (const Connection* c : ports[p]) {
      const double terms = kind.ports()[p].variadic ? terms_of(graph.variables, factor, *c, slots) : 1;
      messages += terms * graph.variables[c->variable.value].family.components();
    }
  return messages;
}

}  // namespace

MemoryNeed memory_need(const Graph& graph, const Registry& registry) {
  MemoryNeed need;
  double most = 0;
  const auto add = [&](double bytes, const auto& what) {
    need.bytes += bytes + kBytesPerNode;
    if (bytes > most) most = bytes, need.largest = what();
  };
  const Resolved resolved = resolve_variables(graph, registry);
  for (const auto& v : resolved.variables)
    add(kBytesPerElement * v.size,
        [&] { return fmt::format("variable '{}': {} elements of {}", v.name, v.elements(), v.family.text()); });
  PortEnds ports;
  for (const Graph::Factor& factor : graph.factors()) {
    const Kind& kind = registry.kind(factor.kind);
    assign_ports(factor, kind, ports);
    const std::uint32_t slots = plate_size(resolved.variables, factor, kind, ports);
    const double messages = slots * messages_of_slot(resolved, factor, kind, slots, ports);
    double numbers = 0;
    for (const auto& [name, value] : factor.parameters) numbers += static_cast<double>(value.numbers.size());
    add(kBytesPerMessage * messages + kBytesPerParameter * numbers,
        [&] { return fmt::format("{}: {:.3g} messages, {:.3g} parameters", where(factor), messages, numbers); });
  }
  return need;
}

}  // namespace dma
