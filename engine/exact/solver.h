// Runs of a clique tree: what a State keeps of them.
#pragma once

#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "engine/exact/exact.h"
#include "engine/exact/hanging.h"
#include "engine/exact/propagation.h"
#include "engine/run/solver.h"

namespace dma::clique_tree {

using CliqueTables = std::variant<Propagation<double>, Propagation<WideNumber>>;

enum class Passes { sums, both, maxima };  // collect alone, collect and distribute, collect by maxima
// In doubles, or in wide numbers where they do not reach.
CliqueTables propagate(const Problem& problem, const State& state, std::span<const Hint> hints, Passes passes);
double log_total(const CliqueTables& tables);

class DiscreteMemory : public SolverMemory {
 public:
  Values values;
  std::optional<State> parts;  // of what is not discrete
  Hanging::Found found;
  std::vector<Natural> mixed;  // Gaussian beliefs of it, by element
  std::vector<Hint> hints;
  std::vector<std::vector<double>> log_beliefs;  // by node
  bool is_solved = false;
};

// What all solvers of discrete variables share: what hangs on them, and their beliefs.
class DiscreteSolver : public Solver {
 public:
  DiscreteSolver(Network network, std::shared_ptr<const Hanging> hanging)
      : network_(std::move(network)), hanging_(std::move(hanging)) {}
  Belief belief(const State& state, VariableId variable) const override;
  const Network& network() const { return network_; }

 protected:
  void make_parts(DiscreteMemory& memory) const;
  // What is observed, and what is known of nodes beside their factors. Returns the values of the run before.
  Values begin(const State& state, DiscreteMemory& memory) const;
  // Tells what hangs there the beliefs that were found.
  void end(DiscreteMemory& memory) const;

  Network network_;
  std::shared_ptr<const Hanging> hanging_;  // null: everything unknown is discrete
};

class CliqueMemory : public DiscreteMemory {
 public:
  std::shared_ptr<const CliqueTree> tree;  // the plan's, or one of this state's own, where a value is missing
  std::optional<CliqueTables> tables;
};

class ExactSolver : public DiscreteSolver {
 public:
  ExactSolver(const PlanData& plan, Network network, std::shared_ptr<const Hanging> hanging, ExactOptions options);

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
  Values as_compiled_;  // kNone where a node is not observed
  std::shared_ptr<const CliqueTree> tree_;
};

class BoundMemory : public DiscreteMemory {
 public:
  EvidenceBounds bounds;
  std::string why;
};

class ReweightedSolver : public DiscreteSolver {
 public:
  ReweightedSolver(Network network, std::shared_ptr<const Hanging> hanging, ReweightedOptions options);
  std::unique_ptr<SolverMemory> make_memory(const PlanData& plan) const override;
  Report run(State& state, const RunOptions& options) const override;
  double log_evidence(const State& state) const override;
  std::string_view evidence_method(const State& state) const override;

 private:
  ReweightedOptions options_;
};

// Of a state that exact has run as it is; an Error for any other.
const CliqueMemory& solved_cliques(const State& state);
const ExactSolver& solver_of(const PlanData& plan);

}  // namespace dma::clique_tree
