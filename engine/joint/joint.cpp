#include "engine/joint/joint.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/compile/compile.h"
#include "engine/compile/lay_out.h"
#include "engine/compile/plan_data.h"
#include "engine/compile/schedule.h"
#include "engine/joint/solver.h"
#include "engine/support/text.h"

namespace dma {

namespace {

constexpr int kLeastDraws = 100;  // fewer draws have no tail to fit

void check(const JointOptions& o) {
  if (!(o.tolerance > 0)) fail("joint: tolerance is {}; it must be above 0", o.tolerance);
  if (!(o.site_tolerance > 0)) fail("joint: site_tolerance is {}; it must be above 0", o.site_tolerance);
  if (o.limit < 1) fail("joint: the limit is {} solves; at least 1 is expected", o.limit);
  if (o.check_draws != 0 && o.check_draws < kLeastDraws)
    fail("joint: check_draws is {}; 0 or at least {} are expected", o.check_draws, kLeastDraws);
  if (o.refreshes < 1) fail("joint: the limit is {} refreshes; at least 1 is expected", o.refreshes);
  if (!(o.damping >= 0 && o.damping < kInfinity))
    fail("joint: damping is {}; it must be 0 or more, and finite", o.damping);
}

// Refuses kinds without any view before looking for messages; EP sites use "ep" unless another method is given.
CompileOptions with_site_methods(const Graph& graph, const Registry& registry, CompileOptions options) {
  std::string_view last;
  for (const Graph::Factor& factor : graph.factors()) {
    if (factor.kind == last) continue;
    last = factor.kind;
    if (!registry.contains(factor.kind)) continue;  // resolve() reports it
    const Kind& kind = registry.kind(factor.kind);
    if (kind.linear_view() || kind.gaussian_row()) continue;
    const std::vector<std::string> methods = kind.methods();
    if (methods.empty())
      fail(
          "joint: kind '{}' of factor '{}' has no linear view; give it a function(...), a gaussian_row(...) or "
          "messages (it is then "
          "an EP site)",
          kind.name(), factor.name());
    const bool has_ep = std::ranges::find(methods, "ep") != methods.end();
    if (has_ep && options.method == CompileOptions{}.method) options.kind_methods.try_emplace(kind.name(), "ep");
  }
  return options;
}

}  // namespace

Plan compile(const Graph& graph, const Joint& joint, const Registry& registry, const CompileOptions& options) {
  check(joint.options);
  JointOptions own = joint.options;
  if (graph.factors().empty()) fail("the graph has no factors; add some before compiling it");
  const auto kept_registry = std::make_shared<const Registry>(registry);
  Draft draft(resolve(graph, *kept_registry, with_site_methods(graph, *kept_registry, options)));
  for (const auto& v : draft.graph.variables) {
    if (v.family->chart != nullptr && v.shared)
      fail("joint: variable '{}' is {} and shared; points on manifolds cannot be learned from examples", v.name,
           v.family.text());
    if (!v.family->is_like_gaussian && v.family->chart == nullptr && !v.observed)
      fail(
          "joint: variable '{}' is {}; joint() takes gaussian and observed "
          "variables only: sweep with a schedule, such as flooding()",
          v.name, v.family.text());
  }
  refuse_given_tables(draft.graph, "joint");
  std::vector<double> starts;
  if (!own.hypers.empty()) starts = own.hypers[0].integral->check(graph, *kept_registry, own);
  PlanData& plan = draft.plan;
  plan.registry = kept_registry;
  plan.schedule.name = "joint";
  lay_out(draft, false);
  index_memberships(draft, graph.factors().size());
  auto system = std::make_shared<const joint_system::System>(
      plan, joint_system::EliminationLimits{.bytes = joint.options.memory});
  plan.solver_text = fmt::format(
      "joint: {} roots, {} derived, {} rows, {} EP sites; {}\n{}", system->element_of.size(),
      std::ranges::count(system->role, joint_system::Role::derived), system->rows, system->site_elements.size(),
      system->is_linear() ? "linear, one solve" : "Gauss-Newton steps", system->elimination.text());
  plan.solver = std::make_shared<joint_system::JointSolver>(std::move(system), std::move(own), std::move(starts));
  return Plan(std::make_shared<PlanData>(std::move(plan)));
}

void set_start(State& state, VariableId variable, std::span<const double> values) {
  const joint_system::System& system = joint_system::solver_of(state).system();
  auto& start = static_cast<joint_system::Memory&>(*state.solver_memory()).start;
  const auto& v = state.plan()->variable(variable);
  if (values.size() != v.size)
    fail("variable '{}' was given {} values but has {} elements", v.name, values.size(), v.size);
  start.resize(system.role.size(), std::nan(""));
  for (std::uint32_t i = 0; i < v.size; ++i) {
    if (v.observed || system.is_computed[v.first_element + i])
      fail("variable '{}' is {}; only a variable that nothing computes has a start", v.name,
           v.observed ? "observed" : "the output of a deterministic factor");
    if (!std::isfinite(values[i]))
      fail("variable '{}', element {}: the start is {}; a finite number is expected", v.name, i, values[i]);
    start[v.first_element + i] = values[i];
  }
}

JointComparison compare_with_joint(const Graph& graph, const Scheduler& rule, const Registry& registry,
                                   const std::function<void(State&)>& observe, const JointOptions& joint_options,
                                   const CompileOptions& options) {
  CompileOptions unfused = options;
  unfused.fuse = false;  // both solutions must have every variable
  const Plan by_sweeps = compile(graph, rule, registry, unfused),
             by_joint = compile(graph, joint(joint_options), registry, options);
  State sweeps(by_sweeps), solved(by_joint);
  observe(sweeps);
  observe(solved);
  JointComparison out;
  out.sweeps = run(by_sweeps, sweeps);
  out.joint = run(by_joint, solved);
  for (std::uint32_t v = 0; v < graph.variables().size(); ++v) {
    if (by_joint->variables[v].observed) continue;
    const Belief a = sweeps.belief({v}), b = solved.belief({v});
    JointComparison::Row row{.variable = std::string(by_joint->variables[v].name)};
    for (std::size_t i = 0; i < b.size(); ++i) {
      row.mean_difference = std::max(row.mean_difference, std::abs(a[i].mean() - b[i].mean()) / b[i].sd());
      const double ratio = a[i].variance() / b[i].variance();
      if (std::abs(std::log(ratio)) > std::abs(std::log(row.variance_ratio))) row.variance_ratio = ratio;
    }
    out.rows.push_back(std::move(row));
  }
  return out;
}

std::string JointComparison::text() const {
  std::string text = fmt::format("sweeps: {}\njoint:  {}\n{:<20}{:>18}{:>16}\n", sweeps.line(), joint.line(),
                                 "variable", "mean apart, sd", "variance ratio");
  for (const Row& row : rows)
    text += fmt::format("{:<20}{:>18.3g}{:>16.4g}\n", row.variable, row.mean_difference, row.variance_ratio);
  return text;
}

}  // namespace dma
