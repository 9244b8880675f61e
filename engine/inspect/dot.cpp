#include "engine/inspect/inspect.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "engine/compile/plan_data.h"
#include "engine/compile/resolve.h"
#include "engine/graph/graph.h"
#include "engine/kinds/registry.h"
#include "engine/run/run.h"

namespace dma {

namespace {

std::string quoted_name(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

std::string label(std::string_view name, std::uint32_t count, std::string_view below = {}) {
  const std::string text = quoted_name(count == 1 ? std::string(name) : fmt::format("{} [{}]", name, count));
  return below.empty() ? text : fmt::format("{}\\n{}\"", text.substr(0, text.size() - 1), below);
}

// The first elements of a belief, one per line.
std::string known(const Belief& belief) {
  constexpr std::size_t kShown = 4;
  std::string text;
  for (std::size_t i = 0; i < std::min(belief.size(), kShown); ++i)
    text += (i == 0 ? "" : "\\n") + belief.family()->text(belief.message(i));
  return belief.size() > kShown ? text + "\\n..." : text;
}

bool is_uninformed(const Belief& belief) {
  for (std::size_t i = 0; i < belief.size(); ++i)
    if (!belief.is_uninformed(i)) return false;
  return true;
}

// Attributes of the edge between a factor and the explained variable.
std::string fraction_attributes(const Explanation* explanation, std::uint32_t factor, VariableId variable) {
  if (explanation == nullptr || !(explanation->variable == variable)) return {};
  constexpr double kWidest = 8;
  const double fraction = explanation->fraction(FactorId{factor});
  return fmt::format(" [penwidth={:.2f}, color=\"#0072B2\", label=\"{:.0f}%\"]", 0.5 + (kWidest - 0.5) * fraction,
                     100 * fraction);
}

std::string highlight(const Explanation* explanation, VariableId variable) {
  if (explanation == nullptr || !(explanation->variable == variable)) return {};
  const bool informed = std::ranges::any_of(explanation->elements, &Explanation::Element::informed);
  return informed ? ", color=\"#0072B2\", penwidth=2"
                  : ", color=\"#D55E00\", style=dashed, xlabel=\"nothing informs it\"";
}

// Resolves the connections only; the method of the messages does not matter here.
Resolved connected(const Graph& graph, const Registry& registry) {
  CompileOptions options;
  for (const Graph::Factor& factor : graph.factors()) {
    const std::vector<std::string> methods = registry.kind(factor.kind).methods();
    if (!methods.empty() && std::ranges::find(methods, options.method) == methods.end())
      options.kind_methods.try_emplace(std::string(factor.kind), methods.front());
  }
  return graph.has_gates() ? resolve(graph.without_gates(), registry, options) : resolve(graph, registry, options);
}

std::string draw(const Graph& graph, const Registry& registry, const Explanation* explanation,
                 const State* state = nullptr) {
  const Resolved resolved = connected(graph, registry);
  std::string text = "digraph factor_graph {\n  rankdir=LR;\n  node [fontname=\"Helvetica\", fontsize=11];\n";
  for (std::size_t v = 0; v < graph.variables().size(); ++v) {
    const auto& variable = graph.variables()[v];
    const VariableId id{static_cast<std::uint32_t>(v)};
    const bool has_belief = state != nullptr && !state->plan()->variable(id).eliminated;  // fused away: has no messages
    const std::optional<Belief> belief = has_belief ? std::optional(state->belief(id)) : std::nullopt;
    text += fmt::format(
        "  v{} [shape=ellipse, label={}{}{}{}{}];\n", v,
        label(variable.name.text(), variable.size, belief ? known(*belief) : ""),
        variable.observed ? ", peripheries=2" : "", variable.shared ? ", style=filled, fillcolor=\"#dce6f5\"" : "",
        belief && is_uninformed(*belief) ? ", style=dashed, color=\"#D55E00\"" : "", highlight(explanation, id));
  }
  for (std::size_t f = 0; f < resolved.factors.size(); ++f) {
    const auto& factor = resolved.factors[f];
    text += fmt::format("  f{} [shape=box, style=filled, fillcolor=\"#333333\", fontcolor=white, label={}];\n", f,
                        label(factor.kind->name(), factor.slots));
    for (const GateCase& one : graph.factors()[f].when)
      text += fmt::format("  v{} -> f{} [style=dashed, label=\"{}\"];\n", one.variable.value, f, one.value);
    for (std::size_t p = 0; p < factor.ports.size(); ++p)
      for (const VariableId v : factor.ports[p].variables) {
        const std::string attributes = fraction_attributes(explanation, static_cast<std::uint32_t>(f), v);
        text += factor.kind->ports()[p].output ? fmt::format("  f{} -> v{}{};\n", f, v.value, attributes)
                                               : fmt::format("  v{} -> f{}{};\n", v.value, f, attributes);
      }
  }
  return text + "}\n";
}

}  // namespace

std::string to_dot(const Graph& graph, const Registry& registry) { return draw(graph, registry, nullptr); }

std::string to_dot(const Graph& graph, const Registry& registry, const Explanation& explanation) {
  return draw(graph, registry, &explanation);
}

std::string to_dot(const Graph& graph, const Registry& registry, const State& state) {
  return draw(graph, registry, nullptr, &state);
}

}  // namespace dma
