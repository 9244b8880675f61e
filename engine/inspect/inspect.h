// inspect/: pictures and explanations of graphs and beliefs. May include run/ and what lies below it.
//
// Explains a belief. Natural parameters add, so the precision of a belief splits exactly into the contributions of its
// factors and of a shared variable's cavity.
#pragma once

#include <string>
#include <vector>

#include "engine/graph/graph.h"
#include "engine/messages/family.h"
#include "engine/support/text.h"

namespace dma {

class Plan;
class State;

struct Explanation {
  struct Source {
    std::string name;               // "product3[17].x", "learned elsewhere", "observed value"
    std::vector<FactorId> factors;  // in the user's graph; empty for a cavity or a value
    Natural message;
    double fraction = 0;  // fraction of the belief's precision; 1 for a point mass
  };
  struct Element {
    Natural belief;
    std::vector<Source> sources;                            // informative ones, largest fraction first
    bool informed() const { return !belief.is_uniform(); }  // has sources
  };
  std::string name;
  VariableId variable{};
  Family family = {};
  std::vector<Element> elements = {};

  // Average fraction of a factor over the informed elements.
  double fraction(FactorId factor) const;
  std::string line() const;  // "w: 3 elements, most of the precision from gaussian_noise1 (62%)"
  std::string text() const;  // a table, one row per element and source
};

// Throws an Error if the variable was fused away.
Explanation explain(const Plan& plan, const State& state, VariableId variable);

}  // namespace dma

template <>
struct fmt::formatter<dma::Explanation> : dma::TextFormatter {
  auto format(const dma::Explanation& explanation, format_context& context) const {
    return write(explanation.text(), context);
  }
};

namespace dma {

class Graph;
class Registry;
class State;

// Graphviz text of a graph: variables round, factors square, observed variables with a double line.
// Edges point along the data flow, which the registry knows.
std::string to_dot(const Graph& graph, const Registry& registry);

// The same with one variable explained: the width and label of an edge show its factor's fraction of the variable's
// precision; variables without information are dashed.
std::string to_dot(const Graph& graph, const Registry& registry, const Explanation& explanation);

// The same with the belief of every variable that was not fused away; variables without information are dashed.
std::string to_dot(const Graph& graph, const Registry& registry, const State& state);

}  // namespace dma
