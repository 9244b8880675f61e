// Loops of a graph, slot by slot: two plates may meet at a variable in several places and still form trees.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/compile/resolve.h"

namespace dma {

// Trees that grow edge by edge, in time linear in the number of edges up to a logarithm.
class Forest {
 public:
  explicit Forest(std::size_t nodes);
  // Adds an edge; returns false, and adds nothing, if it would close a loop.
  bool join(std::uint32_t a, std::uint32_t b);
  // The nodes on the way from a to b, which must be connected.
  std::vector<std::uint32_t> path(std::uint32_t a, std::uint32_t b) const;
  std::uint32_t leader(std::uint32_t node);  // the same for connected nodes

 private:
  std::vector<std::uint32_t> leader_, size_;  // union-find over connected nodes
  std::vector<std::uint32_t> parent_;         // along the edges
};

// The variables on one loop, "a, b[2], c", of the graph cut where values are always known; empty if there is none.
// Tables that are data may lead from any slot to any element.
std::string find_loop(const Resolved& graph);

}  // namespace dma
