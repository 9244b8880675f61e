// Graphviz text of a graph: variables round, factors square, observed variables with a double line.
#pragma once

#include <string>

namespace dma {

class Graph;
class Registry;
class State;
struct Explanation;

// Edges point along the data flow, which the registry knows.
std::string to_dot(const Graph& graph, const Registry& registry);

// The same with one variable explained: the width and label of an edge show its factor's fraction of the variable's
// precision; variables without information are dashed.
std::string to_dot(const Graph& graph, const Registry& registry, const Explanation& explanation);

// The same with the belief of every variable that was not fused away; variables without information are dashed.
std::string to_dot(const Graph& graph, const Registry& registry, const State& state);

}  // namespace dma
