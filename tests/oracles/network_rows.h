// The values of a network with N(0, 1 / fan-in) on every weight as a row model: scalars layer after layer, a layer's
// matrix row by row, then its biases.
#pragma once

#include "factors/standard_registry.h"
#include "models/network/network_graph.h"

namespace dma::oracle {

inline RowProgram network_rows(const BnnShape& shape) {
  static const Registry registry = standard_registry();
  const BnnGraph net = network_graph(shape, fan_in_priors(shape), std::vector<double>(shape.layers.back(), 1.0));
  return RowProgram(net.graph, registry, {net.outputs});
}

}  // namespace dma::oracle
