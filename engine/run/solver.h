// Interface of solvers other than sweeps of messages. A plan owns its solver; run() and State::belief() call it. Many
// states on many threads share one solver, so it is constant; each state has its own SolverMemory.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "engine/run/run.h"

namespace dma {

// Working memory of a solver in one State.
class SolverMemory {
 public:
  virtual ~SolverMemory() = default;
};

class Solver {
 public:
  virtual ~Solver() = default;
  virtual std::unique_ptr<SolverMemory> make_memory(const PlanData& plan) const = 0;
  // As run(): the state belongs to a plan with this solver, and its values are in its slots
  // (PlanData::Variable::first_slot).
  virtual Report run(State& state, const RunOptions& options) const = 0;
  // As State::belief().
  virtual Belief belief(const State& state, VariableId variable) const = 0;
  // As log_evidence(); a solver without it throws an Error.
  virtual double log_evidence(const State& state) const;
  // Accuracy of the evidence, for a run that was not exact.
  virtual std::string_view evidence_method(const State&) const { return "an estimate of its solver"; }
};

// As run(), for a state whose plan has a solver: programs that call only this are linked without the loops of sweeps.
Report run_by_solver(State& state, const RunOptions& options = {});

// For solvers that solve parts of a graph: copies the values, cavities and parameters of the whole state to a part's.
// The part has the same variables, in the same order, and the factors listed in `factors`. The caller sets variables
// that only the part observes or shares, and those without a factor in the part.
void carry_over(const State& whole, State& part, std::span<const std::uint32_t> factors);

}  // namespace dma
