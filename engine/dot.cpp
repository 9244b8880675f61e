#include "engine/dot.h"

#include <fmt/format.h>


#include "engine/resolve.h"

namespace dma {

namespace {

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

std::string label(std::string_view name, std::uint32_t count) {
  return quoted(count == 1 ? std::string(name) : fmt::format("{} [{}]", name, count));
}

}  // namespace

std::string to_dot(const Graph& graph, const Registry& registry) {
  const Resolved resolved = resolve(graph, registry, {});
  std::string text = "digraph factor_graph {\n  rankdir=LR;\n  node [fontname=\"Helvetica\", fontsize=11];\n";
  for (std::size_t v = 0; v < graph.variables().size(); ++v) {
    const auto& variable = graph.variables()[v];
    text += fmt::format("  v{} [shape=ellipse, label={}{}{}];\n", v, label(variable.name, variable.size),
                        variable.observed ? ", peripheries=2" : "",
                        variable.shared ? ", style=filled, fillcolor=\"#dce6f5\"" : "");
  }
  for (std::size_t f = 0; f < resolved.factors.size(); ++f) {
    const auto& factor = resolved.factors[f];
    text += fmt::format("  f{} [shape=box, style=filled, fillcolor=\"#333333\", fontcolor=white, label={}];\n", f,
                        label(factor.kind->name(), factor.slots));
    for (std::size_t p = 0; p < factor.ports.size(); ++p)
      for (const VariableId v : factor.ports[p].variables)
        text += factor.kind->ports()[p].output ? fmt::format("  f{} -> v{};\n", f, v.value)
                                               : fmt::format("  v{} -> f{};\n", v.value, f);
  }
  return text + "}\n";
}

}  // namespace dma
