// Graphviz text of a graph: variables round, factors square, observed variables with a double line.
#pragma once

#include <string>

#include "engine/graph/graph.h"
#include "engine/inspect/explain.h"
#include "engine/kinds/registry.h"

namespace dma {

// Edges point along the data flow, which the registry knows.
std::string to_dot(const Graph& graph, const Registry& registry);

// The same with one variable explained: the edges to it are as wide as their factors' fraction of its precision, and
// say it; a variable that nothing informs is drawn dashed.
std::string to_dot(const Graph& graph, const Registry& registry, const Explanation& explanation);

// The same with what is known of every variable that was not fused away; one that nothing informs is drawn dashed.
std::string to_dot(const Graph& graph, const Registry& registry, const State& state);

}  // namespace dma
