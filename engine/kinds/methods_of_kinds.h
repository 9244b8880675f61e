// Fallback methods for kinds without the default one.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <string_view>

#include "engine/kinds/registry.h"

namespace dma {

// The method to use for a kind without the default one at some port: ep, or the kind's first. Empty: the default one
// applies.
inline std::string method_instead_of(std::string_view usual, const Kind& kind) {
  const auto has_other = [&](std::size_t port) {
    return std::ranges::find(kind.messages(), port, &MessageFunction::target) != kind.messages().end();
  };
  bool is_served = true;
  for (std::size_t p = 0; p < kind.ports().size(); ++p)
    is_served &= kind.find_message(usual, p) != nullptr || !has_other(p);
  if (is_served) return {};
  const bool has_ep = std::ranges::find(kind.messages(), "ep", &MessageFunction::method) != kind.messages().end();
  return has_ep ? "ep" : kind.messages().front().method;
}

// For CompileOptions::kind_methods: the fallback method of every kind of the graph that needs one.
inline std::map<std::string, std::string> methods_of_kinds(const Graph& graph, const Registry& registry,
                                                           std::string_view usual) {
  std::map<std::string, std::string> methods;
  std::string_view last;
  for (const Graph::Factor& factor : graph.factors()) {
    if (factor.kind == last || !registry.contains(factor.kind)) continue;  // resolve() reports it
    last = factor.kind;
    if (std::string own = method_instead_of(usual, registry.kind(factor.kind)); !own.empty())
      methods[std::string(factor.kind)] = std::move(own);
  }
  return methods;
}

}  // namespace dma
