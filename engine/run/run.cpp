#include "engine/run/run.h"

#include <algorithm>

#include "engine/compile/plan_data.h"
#include "engine/run/diagnosis.h"
#include "engine/run/executor.h"
#include "engine/run/solver.h"
#include "engine/run/watch.h"
#include "engine/support/text.h"

namespace dma {

namespace {

using Stop = Report::Stop;

Stop stop_of_single_sweep(const PlanData& plan, const State& state, const Executor::Total& total, Report& report) {
  report.why = plan.schedule.approximate;
  if (!state.frozen().empty()) report.why = "one sweep around frozen variables: approximate";
  if (total.faults > 0) report.why = "one sweep with refused messages: approximate";
  if (!report.why.empty()) return Stop::approximate;
  return state.has_exact_messages() ? Stop::exact : Stop::converged;
}

Stop stop_at_limit(std::uint64_t refused_last, const Divergence& divergence) {
  return divergence.was_growing() || refused_last > 0 ? Stop::diverged : Stop::limit;
}

// A fixed point on a graph with loops is approximate, its means are exact if the graph is linear and Gaussian; so is
// one of messages that are approximations, and one of a schedule that leaves something out.
void note_worth(const Plan& plan, const State& state, Report& report) {
  if (report.stop != Stop::converged) return;
  if (!plan->schedule.approximate.empty()) {
    report.stop = Stop::approximate;
    report.why = plan->schedule.approximate;
    return;
  }
  const bool is_exact = state.has_exact_messages();
  if (!is_exact) report.approximated = plan.data();
  if (plan->loop.empty()) return;
  report.looped = plan.data();
  report.has_exact_means = plan->is_gaussian && is_exact && state.frozen().empty() && report.faults == 0;
}

Report iterate(const PlanData& plan, Executor& executor, Executor::Total& total, const Watch& watch) {
  const Iteration& iteration = plan.schedule.iteration;
  Report report;
  Divergence divergence = executor.watch_divergence();
  std::uint64_t refused_before = 0;  // before the last sweep
  while (report.sweeps < iteration.limit) {
    total.change = 0;
    refused_before = total.faults;
    const bool clean = total.faults == 0;
    const bool is_whole = executor.sweep(total, report.sweeps > 0, report.sweeps > 0 ? &watch : nullptr);
    ++report.sweeps;
    if (clean && total.faults > 0) report.first_fault_sweep = report.sweeps;
    if (!is_whole) {
      report.stop = Stop::interrupted;
      return report;
    }
    report.stop = Stop::diverged;
    if (total.overflowed) return report;
    if (total.change <= iteration.tolerance) {
      report.stop = Stop::converged;
      return report;
    }
    if (divergence.runs_away(report.sweeps, total.change)) return report;
    report.change = total.change;
    report.stop = Stop::interrupted;
    if (!watch.goes_on(report)) return report;
  }
  report.stop = stop_at_limit(total.faults - refused_before, divergence);
  return report;
}

Report iterate_by_priority(const PlanData& plan, Executor& executor, Executor::Total& total, const Watch& watch) {
  const Iteration& iteration = plan.schedule.iteration;
  const std::uint64_t round = plan.schedule.visits.size(), limit = static_cast<std::uint64_t>(iteration.limit) * round;
  Report report;
  Divergence divergence = executor.watch_divergence();
  std::uint64_t refused_before = total.faults;  // before the last round
  const std::uint64_t visits =
      executor.sweep_by_priority(iteration.tolerance, limit, total, divergence, watch, report, refused_before);
  report.sweeps = static_cast<int>((visits + round - 1) / round);
  report.stop = total.overflowed                      ? Stop::diverged
                : total.change <= iteration.tolerance ? Stop::converged
                : report.stop == Stop::interrupted    ? Stop::interrupted
                : visits < limit                      ? Stop::diverged
                                                      : stop_at_limit(total.faults - refused_before, divergence);
  return report;
}

}  // namespace

Report run_by_solver(State& state, const RunOptions& options) {
  Executor::set_end(state, {});
  const Report report = state.plan()->solver->run(state, options);
  Executor::set_end(state, report.stop);
  return report;
}

Report run(const Plan& handle, State& state, const RunOptions& options) {
  if (state.plan() != handle) fail("this state belongs to another plan; make one for this plan: State state(plan)");
  const PlanData& plan = *handle;
  if (plan.solver != nullptr) return run_by_solver(state, options);
  state.ended_.reset();
  if (options.warm && plan.schedule.order == Schedule::Order::once)
    fail(
        "warm starts from the messages of the run before, but schedule '{}' makes a single sweep "
        "on fresh messages; leave warm away or iterate with flooding, sequential or residual",
        plan.schedule.name);
  Executor executor(state);
  executor.check_observed();
  if (options.warm)
    executor.refresh_tables();
  else
    executor.start_fresh();
  executor.refresh_constants();
  Executor::Total total = executor.refused_constants();
  const Watch watch(options);
  Report report;
  switch (plan.schedule.order) {
    case Schedule::Order::once:
      executor.sweep(total);
      report.sweeps = 1;
      report.stop = stop_of_single_sweep(plan, state, total, report);
      break;
    case Schedule::Order::repeated:
      report = iterate(plan, executor, total, watch);
      break;
    case Schedule::Order::residual:
      report = iterate_by_priority(plan, executor, total, watch);
      break;
  }
  report.messages = total.messages;
  report.change = plan.schedule.order == Schedule::Order::once ? 0 : total.change;
  report.faults = total.faults;
  report.replaced = total.replaced;
  if (total.faults > 0) {
    report.first_fault = {handle.data(), total.fault_group, total.fault_port, total.fault_slot};
    report.first_fault_sweep = std::max(1, report.first_fault_sweep);
  }
  if (const auto improper = executor.improper_belief()) {
    if (report.faults++ == 0) {
      report.first_fault = *improper;
      report.first_fault_sweep = report.sweeps;
    }
    report.stop = Stop::diverged;
  }
  note_worth(handle, state, report);
  if (options.diagnose) {
    Diagnosis diagnosis(state);
    diagnosis.check_contradictions();
    diagnosis.find_signal_to_noise(report);
    if (report.looped != nullptr) diagnosis.find_correlation(report);
    if (report.stop == Stop::converged && diagnosis.has_silent_function()) {
      report.stop = Stop::approximate;
      report.why = "approximate: a function of slope 0 there tells its input nothing; take draw_posterior()";
    }
  }
  state.ended_ = report.stop;
  return report;
}

Report run_for(const Plan& plan, State& state, std::chrono::nanoseconds time, RunOptions options) {
  options.time = time;
  if (plan->solver == nullptr && plan->schedule.order == Schedule::Order::once)
    options.warm = false;  // no messages to start from
  return run(plan, state, options);
}

}  // namespace dma
