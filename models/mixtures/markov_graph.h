// The graph of a hidden Markov model over a whole series, and what it says of values.
#pragma once

#include <utility>
#include <vector>

#include "engine/graph/graph.h"
#include "models/mixtures/hidden_markov.h"

namespace dma {

// A step from one state to the next is a variable of its own, with a category for each pair: its belief is what
// learning asks for.
class MarkovGraph {
 public:
  MarkovGraph(const HiddenMarkov& model, std::size_t steps);
  HiddenMarkov::Decoded solve(HiddenMarkov::Values values) const;

 private:
  void emit(std::size_t t, const SymbolEmission& emission);
  void emit(std::size_t t, const GaussianEmission& emission);

  std::size_t states_;
  Graph graph_;
  std::vector<VariableId> state_, pair_, seen_;
  std::vector<std::pair<VariableId, std::vector<double>>> means_;
};

}  // namespace dma
