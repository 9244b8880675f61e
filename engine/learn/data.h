// The examples for a learner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/graph/graph.h"

namespace dma {

class Plan;
class State;

// The values of one observed variable for all examples, one example after the other.
struct Observations {
  VariableId variable;
  std::span<const double> values;
  // Not 0 for a missing value (see State::observe_missing), whose entry in `values` is ignored; empty: none is missing.
  std::span<const std::uint8_t> is_missing = {};
};
// The table of one port connected by given(), for all examples, one example after the other.
struct Tables {
  FactorId factor;
  std::string_view port;
  std::span<const std::uint32_t> elements;
};
struct Data : std::vector<Observations> {
  using std::vector<Observations>::vector;
  std::vector<Tables> tables = {};
  // The examples to use, in this order, so that a large table is shuffled without a copy; empty: all, as they come.
  std::span<const std::uint32_t> order = {};
  std::size_t place(std::size_t example) const { return order.empty() ? example : order[example]; }  // its row
};

// Checks data before the first example is read: each observed variable of the plan once (those in `not_needed` at most
// once) and no other, the same number of whole examples for each, values that the variable can have; and tables
// likewise. Returns the number of examples, at least 1: those in the order, if there is one.
std::size_t check_data(const Plan& plan, const Data& data, std::span<const VariableId> not_needed = {});

// Writes the values of one example, counted in the order, to the variables that are observed in the state's plan.
void observe_example(const Data& data, std::size_t ordered, State& state);

// The observations of one variable in checked data; empty if there are none.
Observations observations_of(const Data& data, VariableId variable);

// Progress within an epoch, for callers that display it. No result depends on it.
struct LearnStage {
  std::string what;  // the current task; may be empty
  double fraction = 0;  // done of the epoch, or of the pass over all rows
  double seconds_left = -1;  // expected until the end of learning; below 0: unknown
};

// May be called from any thread, some thousand times a second.
using StageWatch = std::function<void(const LearnStage&)>;

}  // namespace dma
