// Every byte that changes while a plan runs: observed values, messages, parameters.
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
  // Of a plan whose graph has grown since `before` was run: it begins with the values that were observed, the cavities
  // and the messages of factors that are in both, so that a warm run has only the new part to work out. Parameters are
  // the plan's.
  State(Plan plan, const State& before);
  ~State();
  State(State&&) noexcept;
  State& operator=(State&&) noexcept;
  State(const State&) = delete;  // its sends point into itself
  State& operator=(const State&) = delete;

  // Gives an observed variable its value: one finite number per element.
  void observe(VariableId variable, std::span<const double> values);
  void observe(VariableId variable, std::initializer_list<double> values) {
    observe(variable, std::span(values.begin(), values.size()));
  }
  void observe(VariableId variable, double value);

  // Where a value is missing, the variable is unknown in this run: nothing is observed of it. Sweeps then need
  // CompileOptions::may_be_missing if it joins several factors.
  void observe(VariableId variable, std::span<const std::optional<double>> values);
  void observe(VariableId variable, std::initializer_list<std::optional<double>> values) {
    observe(variable, std::span(values.begin(), values.size()));
  }
  void observe(VariableId variable, std::nullopt_t);  // all its elements
  // One element; the others must have been given.
  void observe_missing(VariableId variable, std::size_t element = 0);
  bool is_missing(VariableId variable, std::size_t element = 0) const;
  bool is_given(VariableId variable) const {
    if (!values_.knows(variable)) (void)plan_->variable(variable);  // throws
    return values_[variable].given;
  }

  // One value for all slots, or one for each. Checked against the domain. Concerns this factor alone.
  void set_parameter(FactorId factor, std::string_view parameter, std::span<const double> values);
  void set_parameter(FactorId factor, std::string_view parameter, double value) {
    set_parameter(factor, parameter, std::span(&value, 1));
  }

  // The table of a port that was connected by given(): an element of its variable for each (slot, term). Concerns all
  // runs until another one is set.
  void set_table(FactorId factor, std::string_view port, std::span<const std::uint32_t> elements);
  void set_table(FactorId factor, std::string_view port, std::initializer_list<std::uint32_t> elements) {
    set_table(factor, port, std::span(elements.begin(), elements.size()));
  }

  // The product of all messages at a variable. Of an observed one whose value is missing: what is predicted of it.
  Belief belief(VariableId variable) const;
  // The messages of a factor to one of its ports, slot by slot.
  std::vector<Gaussian> messages(FactorId factor, std::string_view port) const;

  // A frozen variable hears nothing new: messages to it stay as they are, through fresh and warm runs, and it tells
  // others what it told them then. Its belief is not the posterior of such a run, and evidence is refused.
  void freeze(VariableId variable);
  void thaw(VariableId variable);
  bool is_frozen(VariableId variable) const;
  std::span<const VariableId> frozen() const { return frozen_.variables; }

  // What a shared variable has learned elsewhere: a message that no operation writes (see learn.h).
  MessageArrays cavity(VariableId shared_variable);
  // All messages uniform again, except values, cavities, constants and what is frozen.
  void reset();

  // Another state of the same plan with everything this one holds; the two then go their own ways. What a solver keeps
  // is made anew.
  State copy() const;

  const Plan& plan() const { return plan_; }
  // Whether all message functions of a run on the values given now are exact.
  bool has_exact_messages() const;
  // How the last run ended; nothing before the first, and once anything was given to the state since.
  std::optional<Report::Stop> ended() const { return ended_; }
  // What the plan's solver keeps here; none if it is solved by sweeps.
  SolverMemory* solver_memory() const { return solver_memory_.get(); }

  // By the positions the plan gives (Group::Port::first_slot), and by group and number, for those who inspect a state.
  Natural message(std::size_t slot) const { return store_[slot]; }
  ParameterView parameter(std::uint32_t group, std::size_t i) const { return parameters_.view(group, i); }
  // Which slots meet at which element.
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
  std::unique_ptr<SweepMemory> sweeping_;  // on the arrays above
  std::unique_ptr<SolverMemory> solver_memory_;
  std::optional<Report::Stop> ended_;
};

// A series of scalar variables is observed number by number: the common case has no loop and no call.
inline void State::observe(VariableId variable, double value) {
  const bool is_known = values_.knows(variable) && values_[variable].is_plain_number;
  if (!is_known || !(std::abs(value) < kInfinity)) return observe(variable, std::span(&value, 1));
  ended_.reset();
  ValueSlots& target = values_[variable];
  store_.tau[target.first_slot] = value;
  store_.rho[target.first_slot] = kInfinity;  // it may have been missing
  values_.give(target, false);
}

}  // namespace dma
