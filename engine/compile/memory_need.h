// The memory that a graph takes, from its sizes alone: before anything of it is allocated.
#pragma once

#include <string>

#include "engine/compile/resolve.h"

namespace dma {

struct MemoryNeed {
  double bytes = 0;     // to compile the graph, to run it and to ask for its evidence, about
  std::string largest;  // what takes most of it: "factor 'f' (sum): 4e+09 messages"
};

// Sizes that do not fit together are the Error that compile() makes of them.
MemoryNeed memory_need(const Graph& graph, const Registry& registry);

}  // namespace dma
