// The page of `dma infer`: the graph drawn with beliefs, its messages where it is pointed at, and what the answer is
// worth, in words.
#pragma once

#include <string>
#include <string_view>

#include "engine/graph/graph.h"
#include "engine/run/report.h"
#include "engine/run/state.h"

namespace dma::report {

struct SolvedGraph {
  const Graph& graph;
  const State& state;
  const Report& report;
  std::string name;         // of the file
  std::string description;  // as the file has it
  std::string evidence;     // a line
  std::string command;      // that made it
  std::string picture;      // as Graphviz drew it from to_dot(graph, registry, state); empty: it is not installed
};
std::string page_of(const SolvedGraph& solved);

}  // namespace dma::report
