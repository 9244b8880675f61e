// The discrete part of a plan: elements of variables with finitely many values are nodes, factors are scopes over them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/compile/plan_data.h"
#include "engine/run/run.h"
#include "engine/support/lent.h"

namespace dma::clique_tree {

struct Node {
  std::uint32_t element;  // its first component
  std::uint32_t values;   // number of possible values
};

// One slot of a factor, with its nodes in the order of the ports. Its other variables are observed.
struct Scope {
  std::uint32_t group, slot;
  std::uint32_t first, count;  // in DiscreteGraph::members
};

// The value of every node in a run, kNowhere if unknown.
using Values = std::vector<std::uint32_t>;

struct DiscreteGraph {
  explicit DiscreteGraph(const PlanData& plan);

  std::vector<Node> nodes;
  std::vector<std::uint32_t> node_at;  // by element; kNowhere where no node begins
  std::vector<Scope> scopes;
  std::vector<std::uint32_t> members;
  std::vector<std::uint8_t> joins;  // by element: at least two factors meet there

  std::span<const std::uint32_t> nodes_of(const Scope& scope) const {
    return std::span(members).subspan(scope.first, scope.count);
  }
};

// Values observed in a state; an observed variable without a value is an Error.
void read_observed(const DiscreteGraph& discrete, const State& state, Values& values);

// f for every combination of the values of a scope's nodes, the last node innermost.
class FactorWeights {
 public:
  FactorWeights(const DiscreteGraph& discrete, const State& state) : discrete_(discrete), state_(state) {}

  struct Weights {
    std::span<const double> numbers;  // f, or logs of f
    bool are_logs = false;
  };
  Weights of(const Scope& scope);  // valid until the next call

 private:
  const DiscreteGraph& discrete_;
  const State& state_;
  Lent<double> parameters_, logs_;
};

}  // namespace dma::clique_tree
