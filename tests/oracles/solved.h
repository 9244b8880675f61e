// The beginning of a test of graphs: one is compiled, given its values and run, by any schedule or solver.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <numbers>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/compile/compile.h"
#include "engine/compile/plan_data.h"
#include "engine/exact/exact.h"
#include "engine/joint/joint.h"
#include "engine/run/run.h"
#include "engine/support/text.h"
#include "factors/standard_registry.h"
#include "schedules/schedules.h"
#include "tests/oracles/messages_agree.h"
#include "tests/oracles/relative.h"

using namespace dma;  // a test speaks of little else

namespace dma::oracle {

// An observed variable and its values: one number for all elements, one for each, or some that are missing.
struct Given {
  Given(VariableId v, double value) : observe_in([=](State& state) { state.observe(v, value); }) {}
  Given(VariableId v, std::vector<double> all) : observe_in([=](State& state) { state.observe(v, all); }) {}
  template <std::same_as<std::vector<std::optional<double>>> Values>  // no overload for numbers in braces
  Given(VariableId v, Values all) : observe_in([=](State& state) { state.observe(v, all); }) {}
  std::function<void(State&)> observe_in;
};

struct Solved {
  Plan plan;
  State state;
  Report report;
};

// auto [plan, state, report] = solved(compile(graph, flooding(), registry), {{y, 3.0}});
inline Solved solved(Plan plan, const std::vector<Given>& values = {}, const RunOptions& options = {}) {
  State state(plan);
  for (const Given& given : values) given.observe_in(state);
  Report report = run(plan, state, options);
  return {std::move(plan), std::move(state), std::move(report)};
}

// The message of the Error that an action throws; empty if it throws none.
inline std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

}  // namespace dma::oracle
