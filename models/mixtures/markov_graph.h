// The graph of a hidden Markov model over a whole series, and its beliefs.
#pragma once

#include <utility>
#include <vector>

#include "engine/graph/graph.h"
#include "models/mixtures/hidden_markov.h"

namespace dma {

// Each transition is a variable with one category per pair of states: learning needs its belief.
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
