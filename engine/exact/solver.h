// Runs of a clique tree, and the memory that a State keeps for them.
#pragma once

#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "engine/compile/plan_data.h"
#include "engine/exact/exact.h"
#include "engine/exact/hanging.h"
#include "engine/exact/propagation.h"
#include "engine/run/solver.h"

namespace dma::clique_tree {

using CliqueTables = std::variant<Propagation<double>, Propagation<WideNumber>>;

enum class Passes { sums, both, maxima };  // collect; collect and distribute; collect by maxima
// Computes in doubles, or in wide numbers if doubles underflow.
CliqueTables propagate(const Problem& problem, const State& state, std::span<const Hint> hints, Passes passes);
// In the tables of an earlier run of the same problem: doubles need no new memory.
void propagate_again(CliqueTables& tables, const Problem& problem, const State& state, std::span<const Hint> hints,
                     Passes passes);
double log_total(const CliqueTables& tables);

class DiscreteMemory : public SolverMemory {
 public:
  Values values;
  std::optional<State> parts;  // state of the hanging parts
  Hanging::Found found;
  std::vector<Natural> mixed;  // Gaussian beliefs of hanging elements
  std::vector<Hint> hints;
  std::vector<std::vector<double>> log_beliefs;  // by node
  bool is_solved = false;
};

// Base of all solvers of discrete variables: handles hanging parts and beliefs.
class DiscreteSolver : public Solver {
 public:
  DiscreteSolver(DiscreteGraph discrete, std::shared_ptr<const Hanging> hanging)
      : discrete_(std::move(discrete)), hanging_(std::move(hanging)) {}
  Belief belief(const State& state, VariableId variable) const override;
  const DiscreteGraph& discrete() const { return discrete_; }

 protected:
  void make_parts(DiscreteMemory& memory) const;
  // Reads observations and cavities, and sends messages up the hanging parts.
  void begin(const State& state, DiscreteMemory& memory) const;
  // Sends the beliefs down the hanging parts.
  void end(DiscreteMemory& memory) const;

  DiscreteGraph discrete_;
  std::shared_ptr<const Hanging> hanging_;  // null: all unknowns are discrete
};

class CliqueMemory : public DiscreteMemory {
 public:
  std::shared_ptr<const CliqueTree> tree;  // the plan's, or this state's own if a value is missing
  Values of_tree;                          // the tree is for all values known and missing as these
  std::optional<CliqueTables> tables;
};

class ExactSolver : public DiscreteSolver {
 public:
  ExactSolver(const PlanData& plan, DiscreteGraph discrete, std::shared_ptr<const Hanging> hanging,
              ExactOptions options);

  std::unique_ptr<SolverMemory> make_memory(const PlanData& plan) const override;
  Report run(State& state, const RunOptions& options) const override;
  double log_evidence(const State& state) const override;
  std::string_view evidence_method(const State&) const override {
    return "approximate messages reach the discrete variables";
  }
  const CliqueTree& tree() const { return *tree_; }

 private:
  std::shared_ptr<const CliqueTree> make_tree(const PlanData& plan, const Values& values) const;
  [[noreturn]] void refuse_impossible(const State& state, const CliqueMemory& memory) const;

  ExactOptions options_;
  Values as_compiled_;  // kNowhere for nodes that are not observed
  std::shared_ptr<const CliqueTree> tree_;
};

class BoundMemory : public DiscreteMemory {
 public:
  EvidenceBounds bounds;
  std::string why;
};

class ReweightedSolver : public DiscreteSolver {
 public:
  ReweightedSolver(DiscreteGraph discrete, std::shared_ptr<const Hanging> hanging, ReweightedOptions options);
  std::unique_ptr<SolverMemory> make_memory(const PlanData& plan) const override;
  Report run(State& state, const RunOptions& options) const override;
  double log_evidence(const State& state) const override;
  std::string_view evidence_method(const State& state) const override;

 private:
  ReweightedOptions options_;
};

// Memory of a state that exact has run; an Error for any other.
const CliqueMemory& solved_cliques(const State& state);
const ExactSolver& solver_of(const PlanData& plan);

}  // namespace dma::clique_tree
