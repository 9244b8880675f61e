#include "engine/compile/informed.h"

#include <fmt/format.h>

#include "engine/support/error.h"
#include "engine/support/text.h"

namespace dma {

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
