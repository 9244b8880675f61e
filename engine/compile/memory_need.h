// Estimates the memory that a graph needs from its sizes, before anything is allocated.
#pragma once

#include <string>

#include "engine/compile/resolve.h"

namespace dma {

struct MemoryNeed {
  double bytes = 0;     // to compile the graph, to run it and to compute its evidence
  std::string largest;  // the node that needs most: "factor 'f' (sum): 4e+09 messages"
};

// Sizes that do not fit together are an Error, as in compile().
MemoryNeed memory_need(const Graph& graph, const Registry& registry);

}  // namespace dma
