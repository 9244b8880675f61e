// What a look at the messages after a run can tell.
#pragma once

#include <array>
#include <string_view>

#include "engine/run/report.h"
#include "engine/run/state.h"
#include "engine/support/error.h"

namespace dma {

// Two different point masses at one element.
Contradiction contradiction(const std::string& variable, std::uint32_t element, double known, double found);

class Diagnosis {
 public:
  explicit Diagnosis(State& state) : state_(state), plan_(*state.plan_) {}

  // Throws Contradiction where two different point masses meet at a variable, or where all that a deterministic factor
  // connects is known exactly and does not fit its function. Linear in the number of messages; allocates nothing.
  void check_contradictions();
  // The strongest correlation that messages leave out, of a fixed point on a graph with loops (Report::correlation): of
  // a group of factors y = g(x_1, ..., x_k) over a few variables, under its linear view at the beliefs, the information
  // matrix of these variables is made of what all its slots say of them together and what others say of each. Allocates
  // nothing.
  void find_correlation(Report& report) const;
  // The smallest |mean| / sd that the last sweep's message functions of watching kinds were given.
  void find_signal_to_noise(Report& report) const;
  // Whether a factor y = f(x) tells x nothing though others know y: the slope of its f vanishes at the belief, as that
  // of a square does between the two roots. Allocates nothing.
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

  State& state_;
  const PlanData& plan_;
  mutable std::array<PlanData::Variable, 2> recent_ = {};  // looked up last: elements are asked for in a row
  mutable std::size_t newest_ = 0;
};

}  // namespace dma
