// The graph of a matrix that is a product of two narrow ones; see linear_models.h.
#pragma once

#include <cstddef>
#include <vector>

#include "engine/graph/graph.h"
#include "engine/run/run.h"

namespace dma {

// Sums of squared means and of variances over numbers that share one variance.
struct VarianceOf {
  double squares = 0, open = 0, count = 0;

  void add(double mean, double variance) { squares += mean * mean, open += variance, ++count; }
  // The most probable variance, with the number of well-determined parameters held fixed (MacKay); the expected square
  // if that number is nearly 0.
  double variance(double now) const {
    const double determined = count - open / now;
    return determined > 0.1 * count ? squares / determined : (squares + open) / count;
  }
};

// Entry (i, j) at i * columns + j is the sum over r of u(i, r) v(j, r).
struct FactorGraph {
  FactorGraph(std::size_t rows, std::size_t columns, std::size_t rank);
  void set_variances(State& state, double noise_variance, double factor_variance) const;
  VarianceOf factors(const State& state) const;

  Graph graph;
  VariableId u, v, entry, y;
  std::vector<FactorId> priors;
  FactorId noise{};
};

}  // namespace dma
