// The discrete variables of a growing graph: factors among them as tables, and Gaussians that are merged where
// discrete variables leave.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "engine/kinds/registry.h"
#include "models/graphs/growing_part.h"
#include "models/mixtures/weighted_gaussian.h"

namespace dma::growing_graph {

using Lookup = std::function<const Known&(std::uint32_t variable)>;

// A factor whose unknown variables are all discrete: log f for all their values.
class Table {
 public:
  Table(const Graph& graph, std::uint32_t factor, const Registry& registry, const Lookup& known);
  double log_value(const Lookup& known) const;  // where Known::value holds the value of every discrete variable

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

// Merges the cases first, first + stride, ... into a Gaussian of some variables. True if they were not all one.
bool merge_into(Boundary& boundary, std::span<const WeightedGaussian> cases, std::size_t first, std::size_t stride);

}  // namespace dma::growing_graph
