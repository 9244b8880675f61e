// Checks of the messages after a run.
#pragma once

#include <array>

#include "engine/run/run.h"
#include "engine/run/state_data.h"
#include "engine/support/text.h"

namespace dma {

// Two different point masses at one element.
Contradiction contradiction(const std::string& variable, std::uint32_t element, double known, double found);

class Diagnosis {
 public:
  explicit Diagnosis(State& state) : state_(*state.data_), plan_(*state.plan_) {}

  // Throws Contradiction if two different point masses meet at a variable, or if all variables of a deterministic
  // factor are known exactly and violate its function. Linear in the number of messages; allocates nothing.
  void check_contradictions();
  // Finds the strongest correlation that messages ignore at a fixed point with loops (Report::correlation). For a group
  // of factors y = g(x_1, ..., x_k) over a few variables, under its linear view at the beliefs, it builds the
  // information matrix of these variables from all slots of the group together and from the messages of other factors.
  // Allocates nothing.
  void find_correlation(Report& report) const;
  // Finds the smallest |mean| / sd among the inputs of watching kinds in the last sweep.
  void find_signal_to_noise(Report& report) const;
  // True if a factor y = f(x) sends x no information although others inform y: the slope of f vanishes at the belief,
  // as for a square between its two roots. Allocates nothing.
  bool has_silent_function() const;

 private:
  void locate_points(const PlanData::Variable& variable);
  void check_function(std::uint32_t group) const;
  void check_function_at(std::uint32_t group, std::uint32_t slot) const;
  struct Information;
  bool collect(std::uint32_t group, Information& information) const;
  bool add_slot(std::uint32_t group, std::uint32_t slot, Information& information) const;
  bool is_silent(const Group& group, std::size_t input, std::size_t output) const;
  Natural product_at(std::uint32_t element, std::uint32_t without = kNowhere) const;
  const PlanData::Variable& variable_at(std::uint32_t element) const;

  StateData& state_;
  const PlanData& plan_;
  mutable std::array<PlanData::Variable, 2> recent_ = {};  // recent look-ups: elements are asked for in a row
  mutable std::size_t newest_ = 0;
};

}  // namespace dma
