// All data that change while a plan runs: observed values, messages, parameters.
#pragma once

#include <cmath>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "engine/compile/plan.h"
#include "engine/messages/belief.h"
#include "engine/run/frozen.h"
#include "engine/run/given_tables.h"
#include "engine/run/message_store.h"
#include "engine/run/observed_values.h"
#include "engine/run/parameters.h"
#include "engine/run/report.h"

namespace dma {

class SolverMemory;
struct SweepMemory;
struct RunOptions;

class State {
 public:
  explicit State(Plan plan);
  // For a plan whose graph has grown since `before` was run: copies the observed values, cavities and messages of
  // factors that exist in both, so that a warm run has to compute only the new part. Parameters are the plan's.
  State(Plan plan, const State& before);
  ~State();
  State(State&&) noexcept;
  State& operator=(State&&) noexcept;
  State(const State&) = delete;  // its sends point into the object itself
  State& operator=(const State&) = delete;

  // Sets the value of an observed variable: one finite number per element.
  void observe(VariableId variable, std::span<const double> values);
  void observe(VariableId variable, std::initializer_list<double> values) {
    observe(variable, std::span(values.begin(), values.size()));
  }
  void observe(VariableId variable, double value);

  // A missing value is unknown in this run. Sweeps then need CompileOptions::may_be_missing if it joins several
  // factors.
  void observe(VariableId variable, std::span<const std::optional<double>> values);
  void observe(VariableId variable, std::initializer_list<std::optional<double>> values) {
    observe(variable, std::span(values.begin(), values.size()));
  }
  void observe(VariableId variable, std::nullopt_t);  // all elements are missing
  // One element is missing; the others must have values.
  void observe_missing(VariableId variable, std::size_t element = 0);
  bool is_missing(VariableId variable, std::size_t element = 0) const;
  bool is_given(VariableId variable) const {
    if (!values_.knows(variable)) (void)plan_->variable(variable);  // throws
    return values_[variable].given;
  }

  // One value for all slots, or one per slot. Checked against the domain. Affects this factor only.
  void set_parameter(FactorId factor, std::string_view parameter, std::span<const double> values);
  void set_parameter(FactorId factor, std::string_view parameter, double value) {
    set_parameter(factor, parameter, std::span(&value, 1));
  }

  // Sets the table of a port connected by given(): one element of its variable per (slot, term). It stays until another
  // one is set.
  void set_table(FactorId factor, std::string_view port, std::span<const std::uint32_t> elements);
  void set_table(FactorId factor, std::string_view port, std::initializer_list<std::uint32_t> elements) {
    set_table(factor, port, std::span(elements.begin(), elements.size()));
  }

  // The product of all messages at a variable. For an observed variable whose value is missing: its prediction.
  Belief belief(VariableId variable) const;
  // The messages of a factor to one of its ports, slot by slot.
  std::vector<Gaussian> messages(FactorId factor, std::string_view port) const;

  // Freezes a variable: messages to it stay unchanged in later runs, fresh or warm, and so do its own. Its belief is
  // not the posterior of such a run, and evidence is refused.
  void freeze(VariableId variable);
  void thaw(VariableId variable);
  bool is_frozen(VariableId variable) const;
  std::span<const VariableId> frozen() const { return frozen_.variables; }

  // Cavity of a shared variable: a message that no operation writes (see learn.h).
  MessageArrays cavity(VariableId shared_variable);
  // Makes all messages uniform, except values, cavities, constants and those at frozen variables.
  void reset();

  // An independent copy for the same plan. The solver's memory is created anew.
  State copy() const;

  const Plan& plan() const { return plan_; }
  // True if all message functions are exact for the values given now.
  bool has_exact_messages() const;
  // Result of the last run; empty before the first run, and after any input has changed.
  std::optional<Report::Stop> ended() const { return ended_; }
  // The memory of the plan's solver; null for sweeps.
  SolverMemory* solver_memory() const { return solver_memory_.get(); }

  // Access by the plan's indices (Group::Port::first_slot; group and number), for code that inspects a state.
  Natural message(std::size_t slot) const { return store_[slot]; }
  ParameterView parameter(std::uint32_t group, std::size_t i) const { return parameters_.view(group, i); }
  // The incidence of slots and elements.
  Incidence incidence() const { return tables_.incidence(*plan_); }
  std::uint32_t element(const Group::Port& port, std::uint32_t q) const { return tables_.element(port, q); }

 private:
  friend class Executor;
  friend class Diagnosis;
  friend Report run(const Plan& plan, State& state, const RunOptions& options);

  void refuse_values(VariableId variable, std::span<const double> values) const;  // throws
  void keep_frozen();
  void restore_frozen();
  void check_may_be_missing(const PlanData::Variable& variable, std::uint32_t element) const;
  void predict_missing(const PlanData::Variable& variable, std::span<Natural> elements) const;

  Plan plan_;
  MessageStore store_;
  ObservedValues values_;
  Parameters parameters_;
  GivenTables tables_;
  FrozenMessages frozen_;
  std::unique_ptr<SweepMemory> sweeping_;  // uses the arrays above
  std::unique_ptr<SolverMemory> solver_memory_;
  std::optional<Report::Stop> ended_;
};

// Inline fast path for a scalar variable.
inline void State::observe(VariableId variable, double value) {
  const bool is_known = values_.knows(variable) && values_[variable].is_plain_number;
  if (!is_known || !(std::abs(value) < kInfinity)) return observe(variable, std::span(&value, 1));
  ended_.reset();
  ValueSlots& target = values_[variable];
  store_.tau[target.first_slot] = value;
  store_.rho[target.first_slot] = kInfinity;  // it may have been missing before
  values_.give(target, false);
}

}  // namespace dma
