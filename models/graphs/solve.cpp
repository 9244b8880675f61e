#include "models/graphs/model.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/compile/plan_data.h"
#include "engine/gates/gates.h"
#include "engine/support/text.h"
#include "factors/standard_registry.h"
#include "schedules/schedules.h"

namespace dma {

std::span<const NamedSolver> named_solvers() {
  static constexpr NamedSolver kSolvers[] = {
      {"exact", "discrete variables by cliques", [](const SolveOptions& o) { return Solve(exact(o.exact)); }},
      {"tree_reweighted", "discrete variables where cliques are too wide: bounds of the evidence",
       [](const SolveOptions& o) { return Solve(tree_reweighted({.memory = o.exact.memory})); }},
      {"joint", "all variables as one Gaussian, with their correlations",
       [](const SolveOptions& o) { return Solve(joint(o.joint)); }},
      {"forward_backward", "one sweep forward and one backward: exact on a tree",
       [](const SolveOptions&) { return Solve(forward_backward()); }},
      {"forward", "one sweep along the data flow: predictions", [](const SolveOptions&) { return Solve(forward()); }},
      {"flooding", "sweeps in which all messages are sent at once",
       [](const SolveOptions&) { return Solve(flooding()); }},
      {"sequential", "sweeps forward and backward", [](const SolveOptions&) { return Solve(sequential()); }},
      {"residual", "the message that would change most is sent first",
       [](const SolveOptions&) { return Solve(residual()); }}};
  return kSolvers;
}

std::vector<std::string> solver_names() {
  std::vector<std::string> names{"auto"};
  for (const NamedSolver& one : named_solvers()) names.emplace_back(one.name);
  return names;
}

Solve solver_named(std::string_view name, const SolveOptions& options) {
  const auto all = named_solvers();
  const auto found = std::ranges::find(all, name, &NamedSolver::name);
  if (found == all.end()) fail("there is no schedule '{}'{}", name, suggestion(name, solver_names()));
  return found->make(options);
}

namespace {

const Registry& registry_of(const SolveOptions& options) {
  static const Registry built_in = standard_registry();
  return options.registry != nullptr ? *options.registry : built_in;
}

Plan compile_way(const Graph& graph, const Solve& way, const SolveOptions& options) {
  return std::visit(
      [&](const auto& rule) { return compile_with_gates(graph, rule, registry_of(options), options.compile); }, way);
}

std::string name_of(const Plan& plan) {
  const std::string text = plan->solver ? plan->schedule.name : plan.schedule_text();
  return text.substr(0, text.find_first_of(":\n"));
}

Answer run_plan(Plan plan, const TellState& tell, std::string why) {
  State state(plan);
  if (tell) tell(state);
  Report report = run(plan, state);
  std::string name = name_of(plan);
  return {std::move(plan), std::move(state), std::move(report), std::move(name), std::move(why)};
}

// Tries one way after the other and remembers why each was refused.
class Attempts {
 public:
  Attempts(const Graph& graph, const SolveOptions& options) : graph_(graph), options_(options) {}
  std::optional<Plan> compiled(const Solve& way) {
    try {
      return compile_way(graph_, way, options_);
    } catch (const Error& error) {  // it does not know a kind, a method or a family
      last_ = error.what();
      if (first_.empty()) first_ = last_;
      return std::nullopt;
    }
  }
  const std::string& first() const { return first_; }
  const std::string& last() const { return last_; }

 private:
  const Graph& graph_;
  const SolveOptions& options_;
  std::string first_, last_;
};

TellState observing(const GivenValues& values) {
  return [&values](State& state) {
    for (const Given& given : values) state.observe(given.variable, std::span(given.values));
  };
}

// A variable that lacks a value joins what it would cut apart.
SolveOptions with_missing(const GivenValues& values, SolveOptions options) {
  for (const Given& given : values)
    if (!std::ranges::all_of(given.values, [](const auto& value) { return value.has_value(); }))
      options.compile.may_be_missing.push_back(given.variable);
  return options;
}

}  // namespace

std::string Answer::text() const { return fmt::format("{}: {}\n{}", solver, why, report.line()); }

Answer solve_told(const Graph& graph, const TellState& tell, const SolveOptions& options) {
  if (!options.joint.hypers.empty())
    return run_plan(compile_way(graph, joint(options.joint), options), tell, "parameters are integrated over");
  Attempts attempts(graph, options);
  if (const auto once = attempts.compiled(forward_backward())) {
    Answer answer = run_plan(*once, tell, "one sweep is exact");
    if (answer.report.stop == Report::Stop::exact) return answer;
  }
  if (const auto cliques = attempts.compiled(exact(options.exact)))
    return run_plan(*cliques, tell, "all that is unknown is discrete, or hangs on what is");
  const std::string refusal = attempts.last();
  const bool is_wide = refusal.find("widest clique") != std::string::npos;
  if (const auto gaussian = attempts.compiled(joint(options.joint)))
    return run_plan(*gaussian, tell, "one sweep would be approximate, and all that is unknown is Gaussian");
  const auto sweeps = attempts.compiled(flooding());
  if (!sweeps) fail("{}", attempts.first());
  Answer answer = run_plan(*sweeps, tell, "no solver takes the whole graph at once");
  if (is_wide) answer.why_not_exact = refusal.substr(0, refusal.find("; sweep"));
  return answer;
}

Answer solve_told(const Graph& graph, const TellState& tell, const Solve& way, const SolveOptions& options) {
  const auto* const asked = std::get_if<Joint>(&way);
  if (const auto& hypers = options.joint.hypers; !hypers.empty() && asked == nullptr)
    fail("only joint() knows hypers; leave the schedule to \"auto\" or \"joint\", or hyper '{}' out", hypers[0].name);
  return run_plan(compile_way(graph, way, options), tell, "as asked");
}

Answer solve(const Graph& graph, const GivenValues& values, const SolveOptions& options) {
  return solve_told(graph, observing(values), with_missing(values, options));
}

Answer solve(const Graph& graph, const GivenValues& values, const Solve& way, const SolveOptions& options) {
  return solve_told(graph, observing(values), way, with_missing(values, options));
}

}  // namespace dma
