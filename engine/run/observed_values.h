// Records which observed variables of a state have a value, and where it is stored. The values themselves are messages.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "engine/compile/plan.h"

namespace dma {

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

}  // namespace dma
