// Graphviz text of a graph: variables round, factors square, observed variables with a double line.
#pragma once

#include <string>

#include "engine/graph.h"
#include "engine/registry.h"

namespace dma {

// Edges point along the data flow, which the registry knows.
std::string to_dot(const Graph& graph, const Registry& registry);

}  // namespace dma
