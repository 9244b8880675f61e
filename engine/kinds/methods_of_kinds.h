// Kinds that lack messages by the usual method have them by another: nobody needs to ask for it.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <string_view>

#include "engine/kinds/registry.h"

namespace dma {

// For CompileOptions::kind_methods: the method of every kind of the graph which the usual one does not serve.
inline std::map<std::string, std::string> methods_of_kinds(const Graph& graph, const Registry& registry,
                                                           std::string_view usual) {
  std::map<std::string, std::string> methods;
  std::string_view last;
  for (const Graph::Factor& factor : graph.factors()) {
    if (factor.kind == last || !registry.contains(factor.kind)) continue;  // resolve() says so
    last = factor.kind;
    const Kind& kind = registry.kind(factor.kind);
    const std::vector<std::string> known = kind.methods();
    bool is_served = true;
    for (std::size_t p = 0; p < kind.ports().size(); ++p) is_served &= kind.find_message(usual, p) != nullptr;
    const bool has_ep = std::find(known.begin(), known.end(), "ep") != known.end();
    if (!is_served && !known.empty()) methods[kind.name()] = has_ep ? "ep" : known.front();
  }
  return methods;
}

}  // namespace dma
