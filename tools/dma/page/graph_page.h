// The page of `dma infer`: the graph drawn with beliefs, its messages where it is pointed at, and what the answer is
// worth, in words.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "engine/graph/graph.h"
#include "engine/run/run.h"

namespace dma::report {

struct SolvedGraph {
  const Graph& graph;
  const State& state;
  const Report& report;
  std::string name;         // name of the file
  std::string description;  // as the file has it
  std::string evidence;     // a line
  std::string command;      // that made it
  std::string picture;      // as Graphviz drew it from to_dot(graph, registry, state); empty: there is none
  std::string no_picture;   // why there is none
};
std::string page_of(const SolvedGraph& solved);

// A sentence in the place of a picture.
std::string no_picture(const std::string& why);

// A picture of Graphviz's inside a page. Its titles are the names of nodes and edges: `notes` say instead what is known
// there.
std::string embedded(std::string picture, const std::map<std::string, std::string>& notes = {});

}  // namespace dma::report
