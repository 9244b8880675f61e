// run/: State, the loops that walk a plan, Report. May include compile/ and what lies below it.
//
// Runs a plan on a state. Allocates nothing and looks nothing up; never throws from a kernel.
#pragma once

#include <chrono>
#include <functional>
#include <optional>

#include "engine/run/report.h"
#include "engine/run/state.h"

namespace dma {

struct RunOptions {
  // Begin from the messages the state has instead of uniform ones (iterative schedules only).
  bool warm = false;
  // Afterwards look for contradicting point masses and the smallest signal-to-noise ratio: a pass over all messages.
  bool diagnose = true;
  // Called with the report so far after every sweep of a schedule that iterates and every linear system of joint; false
  // stops. The answer is then what it is: Report::Stop::interrupted, and a warm run goes on.
  std::function<bool(const Report&)> callback = {};
  // As if the callback said false once this has passed.
  std::optional<std::chrono::nanoseconds> time = {};
};

// A message of negative precision is a site that widens what the others say. It is stored where its method divides by
// the message that arrives on the same edge, and the belief stays proper. A linear factor passes it on if the integral
// exists. To any other factor it counts as a message of little precision that keeps the mean of the belief, and what is
// sent is counted as replaced. Of one that arrives on the edge it sends to, a function or a conditional density says
// to its output what it would say to one that is unknown; to an input nothing new is sent: a fault. So is a belief that
// is not proper when the run ends. Models with shared variables refuse such messages.
//
// Throws Error if an observed variable has no value, Contradiction if two different point masses met on a variable, or
// exact() finds that what is observed cannot be.
Report run(const Plan& plan, State& state, const RunOptions& options = {});

// What can be had in this time: at least one sweep. Warm by itself, so that the next call goes on.
Report run_for(const Plan& plan, State& state, std::chrono::nanoseconds time, RunOptions options = {.warm = true});

}  // namespace dma
