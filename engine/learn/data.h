// The examples that a learner is given.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "engine/run/state.h"

namespace dma {

// The values of one observed variable for all examples, one example after the other.
struct Observations {
  VariableId variable;
  std::span<const double> values;
};
using Data = std::vector<Observations>;

// Everything that is asked of data before the first example is looked at: each observed variable of the plan once (those in
// `not_needed` at most once), nothing else, whole examples, as many for each, values that the variable can have. Returns the
// number of examples, at least 1.
std::size_t check_data(const Plan& plan, const Data& data, std::span<const VariableId> not_needed = {});

// The values of one example into the state, of the variables that are observed in its plan.
void observe_example(const Data& data, std::size_t example, State& state);

// The values of one variable in data that were checked; none: empty.
std::span<const double> values_of(const Data& data, VariableId variable);

}  // namespace dma
