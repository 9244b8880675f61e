// Factors among the discrete variables of a growing graph.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "engine/kinds/registry.h"
#include "models/graphs/growing_part.h"

namespace dma::growing_graph {

using Lookup = std::function<const Known&(std::uint32_t variable)>;

// A factor whose unknown variables are all discrete: log f for all their values.
class Table {
 public:
  Table(const Graph& graph, std::uint32_t factor, const Registry& registry, const Lookup& known);
  double log_value(const Lookup& known) const;  // Known::value holds the value of every discrete variable

 private:
  struct End {
    std::uint32_t variable, element, outcomes;
  };
  struct Slot {
    std::vector<End> ends;
    std::vector<double> logs;  // the last end innermost
  };
  std::vector<Slot> slots_;
};

}  // namespace dma::growing_graph
