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
  // Start from the messages in the state instead of uniform ones (iterative schedules only).
  bool warm = false;
  // After the run, look for contradicting point masses and the smallest signal-to-noise ratio: one pass over all
  // messages.
  bool diagnose = true;
  // Called with the report so far, after every sweep of an iterative schedule and every linear system of joint;
  // returning false stops the run with Report::Stop::interrupted. A warm run can continue from there.
  std::function<bool(const Report&)> callback = {};
  // Stops the run after this time, as if the callback had returned false.
  std::optional<std::chrono::nanoseconds> time = {};
};

// A message of negative precision widens the belief. It is stored if its method divides by the message that arrives on
// the same edge and the belief stays proper. A linear factor passes it on if the integral exists. Other factors read it
// as a message of little precision that keeps the mean of the belief, and their messages count as replaced. If it
// arrives on the edge that a factor sends to: a function or conditional density sends its output the same message as to
// an unknown one; to an input it sends nothing new, which is a fault. An improper belief at the end of a run is a fault
// too. Models with shared variables refuse such messages.
//
// Throws Error if an observed variable has no value, and Contradiction if two different point masses meet on a variable
// or exact() finds the observations impossible.
Report run(const Plan& plan, State& state, const RunOptions& options = {});

// Runs for this long, at least one sweep. Warm by default, so that the next call continues.
Report run_for(const Plan& plan, State& state, std::chrono::nanoseconds time, RunOptions options = {.warm = true});

}  // namespace dma
