// A graph of plates written out: one variable per element, one factor per slot, with index maps evaluated by hand.
#pragma once

#include <vector>

#include "engine/graph/graph.h"

namespace dma::oracle {

struct ScalarGraph {
  Graph graph;
  std::vector<std::vector<VariableId>> elements;  // by variable of the original, then element
};

// `slots[f]` is the number of slots of factor f, stated by the test rather than derived. The last connection of `sum`
// is its total; all others bring their elements as terms, split equally over the slots in order.
ScalarGraph written_out(const Graph& graph, const std::vector<std::size_t>& slots);

}  // namespace dma::oracle
