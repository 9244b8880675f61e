#include "engine/run/run.h"

#include <algorithm>

#include "engine/support/error.h"
#include "engine/run/executor.h"
#include "engine/run/solver.h"

namespace dma {

namespace {

Report iterate(const PlanData& plan, Executor& executor, Executor::Total& total) {
  const Iteration& iteration = plan.schedule.iteration;
  Report report;
  Trend trend(iteration.limit);
  report.stop = Report::Stop::limit;
  while (report.sweeps < iteration.limit) {
    total.change = 0;
    const bool clean = total.faults == 0;
    // A damped message moves on even if what it is made of does not.
    executor.sweep(total, report.sweeps > 0 && iteration.damping == 0);
    ++report.sweeps;
    trend.add(report.sweeps, total.change);
    if (clean && total.faults > 0) report.first_fault_sweep = report.sweeps;
    if (total.change <= iteration.tolerance) {
      report.stop = Report::Stop::converged;
      break;
    }
  }
  if (report.stop == Report::Stop::limit && (trend.grows() || total.faults > 0)) report.stop = Report::Stop::diverged;
  return report;
}

Report iterate_by_urgency(const PlanData& plan, Executor& executor, Executor::Total& total) {
  const Iteration& iteration = plan.schedule.iteration;
  const std::uint64_t round = plan.schedule.visits.size();
  Report report;
  Trend trend(iteration.limit);
  const std::uint64_t visits = executor.sweep_by_urgency(
      iteration.tolerance, static_cast<std::uint64_t>(iteration.limit) * round, total, trend, report);
  report.sweeps = static_cast<int>((visits + round - 1) / round);
  report.stop = total.change <= iteration.tolerance      ? Report::Stop::converged
                : trend.grows() || total.faults > 0 ? Report::Stop::diverged
                                                    : Report::Stop::limit;
  return report;
}

}  // namespace

Report run(const Plan& handle, State& state, const RunOptions& options) {
  if (state.plan() != handle) fail("this state belongs to another plan; make one for this plan: State state(plan)");
  const PlanData& plan = *handle;
  if (plan.solver != nullptr) return plan.solver->run(state, options);
  Executor executor(state);
  executor.check_observed();
  if (!options.warm || plan.schedule.order == Schedule::Order::once) executor.start_fresh();
  executor.refresh_constants();
  Executor::Total total = executor.refused_constants();
  Report report;
  switch (plan.schedule.order) {
    case Schedule::Order::once:
      executor.sweep(total);
      report.sweeps = 1;
      break;
    case Schedule::Order::repeated: report = iterate(plan, executor, total); break;
    case Schedule::Order::residual: report = iterate_by_urgency(plan, executor, total); break;
  }
  report.messages = total.messages;
  report.change = plan.schedule.order == Schedule::Order::once ? 0 : total.change;
  report.faults = total.faults;
  report.replaced = total.replaced;
  if (total.faults > 0) {
    report.first_fault = {handle.data(), total.fault_group, total.fault_port, total.fault_slot};
    report.first_fault_sweep = std::max(1, report.first_fault_sweep);
  }
  if (options.diagnose) {
    executor.check_contradictions();
    executor.find_signal_to_noise(report);
  }
  return report;
}

}  // namespace dma
