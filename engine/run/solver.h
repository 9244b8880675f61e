// Another way to solve a compiled graph than sweeps of messages. A plan that has one keeps it alive; run() and
// State::belief() ask it instead. Many states on many threads share one solver: it is constant, what changes is in each
// state's SolverMemory.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "engine/run/run.h"

namespace dma {

// What a solver keeps in one State.
class SolverMemory {
 public:
  virtual ~SolverMemory() = default;
};

class Solver {
 public:
  virtual ~Solver() = default;
  virtual std::unique_ptr<SolverMemory> make_memory(const PlanData& plan) const = 0;
  // As run(): the state is one of a plan with this solver, its values are in its slots
  // (PlanData::Variable::first_slot).
  virtual Report run(State& state, const RunOptions& options) const = 0;
  // As State::belief().
  virtual Belief belief(const State& state, VariableId variable) const = 0;
  // As log_evidence(); one that has none says so in an Error.
  virtual double log_evidence(const State& state) const;
  // What that is worth, of a run that was not exact.
  virtual std::string_view evidence_method(const State&) const { return "an estimate of its solver"; }
};

// For a solver that solves parts of a graph: gives the state of one the values, cavities and parameters of the whole.
// The part has the same variables, in their order, and of the factors those that are `factors` in the whole. What it
// observes, or shares, and the whole does not is left to the caller, and so is what no factor of the part meets.
void carry_over(const State& whole, State& part, std::span<const std::uint32_t> factors);

}  // namespace dma
