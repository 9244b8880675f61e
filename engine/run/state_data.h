// All that changes while a plan runs: messages, values, parameters, tables and frozen variables of a State. Private.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "engine/compile/plan_data.h"
#include "engine/messages/gaussian.h"
#include "engine/run/given_tables.h"
#include "engine/run/parameters.h"
#include "engine/run/run.h"

namespace dma {

struct SweepMemory;

// The messages and the working memory of kernels. Operations point into it: its sizes never change.
struct MessageStore {
  explicit MessageStore(const PlanData& plan)
      : tau(plan.slots),
        rho(plan.slots),
        arrival_tau(plan.arrivals),
        arrival_rho(plan.arrivals),
        scratch(plan.scratch),
        memory(plan.memory) {}

  std::vector<double> tau, rho;                  // messages, by slot
  std::vector<double> arrival_tau, arrival_rho;  // kept arrivals
  std::vector<double> scratch;                   // for one kernel call
  std::vector<double> memory;                    // memory of kinds, by slot
  bool has_widening = false;                     // a stored message may have negative precision

  MessageArrays messages() { return {tau.data(), rho.data()}; }
  MessageArrays arrivals() { return {arrival_tau.data(), arrival_rho.data()}; }
  Natural operator[](std::size_t slot) const { return {tau[slot], rho[slot]}; }

  void make_uniform(const SlotRange& slots) {
    std::fill_n(tau.begin() + slots.first, slots.count, 0.0);
    std::fill_n(rho.begin() + slots.first, slots.count, 0.0);
  }
  void make_arrivals_uniform(const SlotRange& arrivals) {
    std::fill_n(arrival_tau.begin() + arrivals.first, arrivals.count, 0.0);
    std::fill_n(arrival_rho.begin() + arrivals.first, arrivals.count, 0.0);
  }
  // Copies a store of the same plan.
  void copy_from(const MessageStore& other) {
    std::ranges::copy(other.tau, tau.begin());
    std::ranges::copy(other.rho, rho.begin());
    std::ranges::copy(other.arrival_tau, arrival_tau.begin());
    std::ranges::copy(other.arrival_rho, arrival_rho.begin());
    std::ranges::copy(other.memory, memory.begin());
    has_widening = other.has_widening;
  }
};

// Records which observed variables have a value, and where it is. The values themselves are messages.
class ObservedValues {
 public:
  explicit ObservedValues(const PlanData& plan);

  bool knows(VariableId variable) const { return variable.value < slots_.size() && variable.is_of(mark_); }
  ValueSlots& operator[](VariableId variable) { return slots_[variable.value]; }
  const ValueSlots& operator[](VariableId variable) const { return slots_[variable.value]; }
  // Marks the variable as given, possibly with missing values in this run.
  void give(ValueSlots& slots, bool has_missing) {
    slots.has_missing = has_missing;
    if (!std::exchange(slots.given, true)) --not_given_;
  }
  void check_all_given(const PlanData& plan) const;  // throws
  bool has_missing() const;

 private:
  std::uint16_t mark_;             // the graph's
  std::vector<ValueSlots> slots_;  // by variable
  std::size_t not_given_ = 0;      // number of observed variables without a value
};

// Frozen variables: messages to them stay unchanged, while all others are updated.
struct FrozenMessages {
  struct Masked {
    std::uint32_t slot;
    Natural other;  // the message last computed; while its operation computes, the one that stays
  };
  std::vector<VariableId> variables;
  std::vector<Masked> messages;  // to these variables, by slot

  bool any() const { return !variables.empty(); }
};

// Messages and parameters are found by the plan's indices (Group::Port::first_slot; group and number).
struct StateData {
  explicit StateData(Plan of);
  ~StateData();

  Natural message(std::size_t slot) const { return store[slot]; }
  ParameterView parameter(std::uint32_t group, std::size_t i) const { return parameters.view(group, i); }
  // The incidence of slots and elements.
  Incidence incidence() const { return tables.incidence(*plan); }
  std::uint32_t element(const Group::Port& port, std::uint32_t q) const { return tables.element(port, q); }
  // The parameters of one slot of a group, one after the other.
  void append_parameters(std::uint32_t group, std::uint32_t slot, std::vector<double>& out) const;
  // The product of all messages at an element of a variable, its value or cavity included, but that of one slot.
  Natural product_at(const PlanData::Variable& variable, std::uint32_t element, std::uint32_t without = kNowhere) const;

  void list_frozen();                        // from the current messages
  void swap_frozen(const SlotRange& slots);  // exchanges both messages of each frozen slot in the range

  Plan plan;
  MessageStore store;
  ObservedValues values;
  Parameters parameters;
  GivenTables tables;
  FrozenMessages frozen;
  std::unique_ptr<SweepMemory> sweeping;  // uses the arrays above
  std::unique_ptr<SolverMemory> solver_memory;
};

// elements *= the predictions of an observed variable whose values are missing.
void predict_missing(const StateData& state, const PlanData::Variable& variable, std::span<Natural> elements);

}  // namespace dma
