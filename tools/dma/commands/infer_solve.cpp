#include "tools/dma/commands/infer_solve.h"

#include <optional>

#include "engine/gates/gates.h"
#include "engine/support/error.h"
#include "schedules/flooding.h"
#include "schedules/forward_backward.h"
#include "schedules/residual.h"
#include "schedules/sequential.h"

namespace dma {

Solved solve(const GraphFile& file, Plan plan) {
  State state(plan);
  file.observe(state);
  Report report = run(plan, state);
  return {std::move(plan), std::move(state), std::move(report)};
}

namespace {

// One sweep where that is exact; otherwise by cliques where everything is discrete and they are small enough, all at
// once where everything is Gaussian, and repeated sweeps where neither is.
Solved solve_best(const GraphFile& file, const WholeSolvers& whole, const Registry& registry,
                  const CompileOptions& options) {
  std::string refusal, last;
  const auto compiled = [&](const auto& rule) -> std::optional<Plan> {
    try {
      return compile_with_gates(file.graph, rule, registry, options);
    } catch (const Error& error) {  // a kind, a method or a family that it does not know
      last = error.what();
      if (refusal.empty()) refusal = last;
      return std::nullopt;
    }
  };
  if (!whole.gaussian.options.hypers.empty())
    return solve(file, compile_with_gates(file.graph, whole.gaussian, registry, options));
  if (const auto once = compiled(forward_backward())) {
    Solved solved = solve(file, *once);
    if (solved.report.stop == Report::Stop::exact) return solved;
  }
  if (const auto cliques = compiled(whole.discrete)) return solve(file, *cliques);
  const std::string why_not =
      last.find("widest clique") == std::string::npos ? "" : last.substr(0, last.find("; sweep"));
  if (const auto gaussian = compiled(whole.gaussian)) return solve(file, *gaussian);
  if (const auto sweeps = compiled(flooding({.limit = 1000}))) {
    Solved solved = solve(file, *sweeps);
    solved.why_not_exact = why_not;
    return solved;
  }
  fail("{}", refusal);
}

}  // namespace

Solved solve_as_asked(const GraphFile& file, const std::string& schedule, const WholeSolvers& whole,
                      const Registry& registry, const CompileOptions& options) {
  if (schedule.empty() || schedule == "auto") return solve_best(file, whole, registry, options);
  if (const std::vector<Hyper>& hypers = whole.gaussian.options.hypers; schedule != "joint" && !hypers.empty())
    fail("schedule '{}' knows no hypers; leave the schedule to \"joint\", or hyper '{}' out", schedule,
         hypers[0].name);
  const auto by = [&](const auto& rule) {
    return solve(file, compile_with_gates(file.graph, rule, registry, options));
  };
  if (schedule == "joint") return by(whole.gaussian);
  if (schedule == "exact") return by(whole.discrete);
  if (schedule == "tree_reweighted") return by(tree_reweighted({.memory = whole.discrete.options.memory}));
  const std::pair<std::string, Scheduler> known[] = {{"forward_backward", forward_backward()},
                                                     {"flooding", flooding({.limit = 1000})},
                                                     {"sequential", sequential({.limit = 1000})},
                                                     {"residual", residual({.limit = 1000})}};
  std::vector<std::string> names{"auto", "exact", "tree_reweighted", "joint"};
  for (const auto& [name, rule] : known) {
    if (name == schedule) return by(rule);
    names.push_back(name);
  }
  fail("there is no schedule '{}'{}", schedule, suggestion(schedule, names));
}

}  // namespace dma
