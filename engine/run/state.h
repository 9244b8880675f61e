// All data that change while a plan runs: observed values, messages, parameters.
#pragma once

#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "engine/compile/plan.h"
#include "engine/graph/graph.h"
#include "engine/messages/arrays.h"
#include "engine/messages/belief.h"
#include "engine/run/report.h"

namespace dma {

class SolverMemory;
struct RunOptions;
struct StateData;  // private: state_data.h

class State {
 public:
  explicit State(Plan plan);
  // For a plan whose graph has grown since `before` was run: copies the observed values, cavities and messages of
  // factors that exist in both, so that a warm run has to compute only the new part. Parameters are the plan's.
  State(Plan plan, const State& before);
  ~State();
  State(State&&) noexcept;
  State& operator=(State&&) noexcept;
  State(const State&) = delete;  // see copy()
  State& operator=(const State&) = delete;

  // Sets the value of an observed variable: one finite number per element.
  void observe(VariableId variable, std::span<const double> values);
  void observe(VariableId variable, std::initializer_list<double> values) {
    observe(variable, std::span(values.begin(), values.size()));
  }
  void observe(VariableId variable, double value);  // the same number for every element

  // A missing value is unknown in this run. Sweeps then need CompileOptions::may_be_missing if it joins several
  // factors.
  void observe(VariableId variable, std::span<const std::optional<double>> values);
  void observe(VariableId variable, std::initializer_list<std::optional<double>> values) {
    observe(variable, std::span(values.begin(), values.size()));
  }
  void observe(VariableId variable, std::nullopt_t);  // all elements are missing
  // One element is missing; the others must have values.
  void observe_missing(VariableId variable, std::size_t element = 0);
  bool is_missing(VariableId variable, std::size_t element = 0) const;  // see observe_missing
  bool is_given(VariableId variable) const;                             // true if an observed variable has its values

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
  void thaw(VariableId variable);              // lets a frozen variable learn again
  bool is_frozen(VariableId variable) const;   // see freeze
  std::span<const VariableId> frozen() const;  // all frozen variables

  // Cavity of a shared variable: a message that no operation writes (see learn.h).
  MessageArrays cavity(VariableId shared_variable);
  // Makes all messages uniform, except values, cavities, constants and those at frozen variables.
  void reset();

  // An independent copy for the same plan. The solver's memory is created anew.
  State copy() const;

  const Plan& plan() const { return plan_; }  // plan that it was made for
  // True if all message functions are exact for the values given now.
  bool has_exact_messages() const;
  // Result of the last run; empty before the first run, and after any input has changed.
  std::optional<Report::Stop> ended() const { return ended_; }
  // The memory of the plan's solver; null for sweeps.
  SolverMemory* solver_memory() const;
  const StateData& data() const { return *data_; }  // all numbers, for schedules of one's own

 private:
  friend class Executor;
  friend class Diagnosis;
  friend Report run(const Plan& plan, State& state, const RunOptions& options);

  void refuse_values(VariableId variable, std::span<const double> values) const;  // throws

  Plan plan_;
  std::unique_ptr<StateData> data_;
  std::optional<Report::Stop> ended_;
};

}  // namespace dma
