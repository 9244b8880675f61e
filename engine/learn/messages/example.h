// One example solved, as in every pass over examples.
#pragma once

#include "engine/compile/plan_data.h"
#include "engine/learn/messages/learner.h"
#include "engine/run/executor.h"
#include "engine/run/run.h"

namespace dma {

// One run of the schedule on the observed values, counted in the record. A single sweep, the common case, needs nothing
// of what run() does besides.
inline void solve_example(State& state, Executor& executor, EpochRecord& record) {
  if (state.plan()->schedule.order == Schedule::Order::once) {
    executor.start_fresh();
    Executor::Total total;
    executor.sweep(total);
    record.faults += total.faults;
    record.replaced += total.replaced;
  } else {
    const Report report = run(state.plan(), state, {.diagnose = false});
    record.faults += report.faults - executor.refused_constants().faults;  // constants belong to no example
    record.replaced += report.replaced;
    record.unfinished += report.stop != Report::Stop::converged;
  }
}

}  // namespace dma
