// exact/: exact solution of discrete graphs by a junction tree. May include run/ and what lies below it.
//
// exact() joins variables with finitely many values into cliques; two passes over the tree of cliques give the exact
// posterior, with or without loops. The cost is the number of entries of all cliques, which is counted before anything
// is allocated.
//
//   const Plan plan = compile(g, exact(), standard_registry());
//   State state(plan);
//   state.observe(wet, 1);
//   const Report report = run(plan, state);
//   state.belief(rain);
//   const ExactPosterior posterior(state);
//   posterior.marginal({rain, sprinkler});
#pragma once

#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "engine/compile/compile.h"
#include "engine/run/run.h"

namespace dma {

struct ExactOptions {
  // Largest size of the clique tables in bytes, as doubles; wide numbers take twice as much.
  std::uint64_t memory = std::uint64_t{2} << 30;
};

struct Exact {
  ExactOptions options;
};
inline Exact exact(ExactOptions options = {}) { return {options}; }  // for compile() and solve()

// Variables that are not discrete must be observed, or hang on discrete variables as trees (hanging.h). If the cliques
// exceed the memory limit, an Error names the variables of the widest. A run is one pass up the tree and one down:
// RunOptions do not affect it.
Plan compile(const Graph& graph, const Exact& exact, const Registry& registry, const CompileOptions& options = {});

struct ReweightedOptions {
  double tolerance = 1e-9;                        // on logs that are constant at the fixed point
  int limit = 1000;                               // largest number of sweeps
  std::uint64_t memory = std::uint64_t{2} << 30;  // largest size of the factors' tables in bytes
};
struct TreeReweighted {
  ReweightedOptions options;
};
// For graphs whose cliques are too wide: approximate beliefs, and proven bounds on the log evidence (reweighted.h).
// Takes the same graphs as exact(); the bounds hold wherever a run stops, and coincide if nothing is unknown.
inline TreeReweighted tree_reweighted(ReweightedOptions options = {}) { return {options}; }
// The plan of that solver.
Plan compile(const Graph& graph, const TreeReweighted& bounds, const Registry& registry,
             const CompileOptions& options = {});

struct EvidenceBounds {
  double lower = 0, upper = 0;  // lower is -inf if no possible combination was found
};
// The state must have been run by tree_reweighted; its log_evidence() is the upper bound.
EvidenceBounds evidence_bounds(const State& state);

// One element of a variable.
struct ElementOf {
  ElementOf(VariableId v, std::size_t i = 0) : variable(v), element(i) {}  // NOLINT: {rain, sprinkler}
  VariableId variable;
  std::size_t element;
};

// Values of all discrete variables, one row per draw.
class Assignments {
 public:
  std::uint32_t operator()(std::size_t row, ElementOf element) const;
  std::size_t size() const { return rows_.size(); }

 private:
  friend class ExactPosterior;
  Plan plan_;
  std::vector<std::vector<std::uint32_t>> rows_;  // by node
};

struct MostProbable {
  Assignments values;          // one row
  double log_probability = 0;  // log p(these values, observations); NaN without evidence
};

// Reads the result of an exact run from its state.
class ExactPosterior {
 public:
  explicit ExactPosterior(const State& state);  // throws an Error if the state was not run by exact

  // Probability of every combination of values of these elements, the last innermost. Elements of one clique are summed
  // from its table; for others, each value of the first is tried in turn.
  std::vector<double> marginal(std::span<const ElementOf> elements) const;
  std::vector<double> marginal(std::initializer_list<ElementOf> elements) const {
    return marginal(std::span(elements.begin(), elements.size()));
  }
  // The same for the discrete variables of a factor, in the order of its ports.
  std::vector<double> family(FactorId factor, std::size_t slot = 0) const;
  MostProbable most_probable() const;                               // values of all that are most probable together
  Assignments sample(std::size_t draws, std::uint64_t seed) const;  // independent draws of all
  double log_evidence() const;                                      // log p(observed)

 private:
  const State* state_;
};

// Compares two solutions of one graph.
struct ExactComparison {
  struct Row {
    std::string variable;
    double difference = 0;  // largest |probability by sweeps - exact one|
  };
  Report sweeps;
  std::vector<Row> rows;  // discrete variables that are not observed
  double log_evidence_of_sweeps = 0, log_evidence = 0;
  std::string text() const;
};
// Runs both plans on the values that `observe` sets in a state of each.
ExactComparison compare_with_exact(const Graph& graph, const Scheduler& rule, const Registry& registry,
                                   const std::function<void(State&)>& observe, const ExactOptions& exact_options = {},
                                   const CompileOptions& options = {});

}  // namespace dma
