// The examples that a learner is given.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
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
  // Not zero where a table has no value (see State::observe_missing); none: all are there. What `values` says there
  // does not count.
  std::span<const std::uint8_t> is_missing = {};
};
// The table of one port that was connected by given(), for all examples, one example after the other.
struct Tables {
  FactorId factor;
  std::string_view port;
  std::span<const std::uint32_t> elements;
};
struct Data : std::vector<Observations> {
  using std::vector<Observations>::vector;
  std::vector<Tables> tables = {};
  // Which of those examples are meant, in which order, so that a large table need not be copied to be shuffled; empty:
  // all of them, as they come.
  std::span<const std::uint32_t> order = {};
  std::size_t place(std::size_t example) const { return order.empty() ? example : order[example]; }
};

// Everything that is asked of data before the first example is looked at: each observed variable of the plan once
// (those in `not_needed` at most once), nothing else, whole examples, as many for each, values that the variable can
// have. Returns the number of examples, at least 1: those of the order, if there is one. The same of tables that are
// data.
std::size_t check_data(const Plan& plan, const Data& data, std::span<const VariableId> not_needed = {});

// The values of one example, by its order, into the state, of the variables that are observed in its plan.
void observe_example(const Data& data, std::size_t ordered, State& state);

// Those of one variable in data that were checked; none: empty.
Observations observations_of(const Data& data, VariableId variable);

}  // namespace dma
