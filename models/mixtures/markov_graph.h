// The graph of a hidden Markov model over a whole series, and its beliefs.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "engine/graph/graph.h"
#include "models/mixtures/hidden_markov.h"

namespace dma {

// Each transition is a variable with one category per pair of states: learning needs its belief.
class MarkovGraph {
 public:
  MarkovGraph(const HiddenMarkov& model, HiddenMarkov::Values values);
  HiddenMarkov::Decoded solve() const;

 private:
  void emit(const SymbolEmission& emission, std::optional<double> value);
  void emit(const GaussianEmission& emission, std::optional<double> value);
  void emit(const DensityEmission& emission, std::optional<double> value);

  std::size_t states_;
  Graph graph_;
  std::vector<VariableId> state_, pair_;
  std::vector<std::pair<VariableId, std::vector<std::optional<double>>>> seen_;
  double log_scale_ = 0;  // the sum over steps of the largest log density, which the graph leaves out
};

}  // namespace dma
