#include "engine/exact/exact.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/compile/draft.h"
#include "engine/compile/lay_out.h"
#include "engine/compile/plan_data.h"
#include "engine/exact/solver.h"
#include "engine/kinds/methods_of_kinds.h"
#include "engine/run/run.h"
#include "engine/support/text.h"

namespace dma {

namespace {

// Shared front end of the compilers: makes a plan without a solver, its discrete part and the hanging parts, and passes
// them to `make`.
template <class Make>
Plan compile_discrete(const Graph& graph, std::string_view name, const Registry& registry,
                      const CompileOptions& options, const Make& make) {
  if (graph.factors().empty()) fail("the graph has no factors; add some before compiling it");
  auto kept_registry = std::make_shared<const Registry>(registry);
  CompileOptions methods = options;
  methods.kind_methods.merge(methods_of_kinds(graph, *kept_registry, options.method));
  Draft draft(resolve(graph, *kept_registry, methods));
  refuse_given_tables(draft.graph, name);
  const auto is_discrete = [](const Resolved::Variable& v) { return v.family.outcomes() > 0; };
  if (std::ranges::none_of(draft.graph.variables, is_discrete))
    fail("{}: the graph has no discrete variable; solve it by joint(), or sweep with a schedule, such as flooding()",
         name);
  draft.flow.refuse_cycles();
  PlanData& plan = draft.plan;
  plan.registry = kept_registry;
  plan.schedule.name = name;
  lay_out(draft, false);
  index_memberships(draft, graph.factors().size());
  clique_tree::DiscreteGraph discrete(plan);
  auto hanging = clique_tree::Hanging::of(graph, plan, discrete, *kept_registry, methods);
  make(plan, std::move(discrete), std::move(hanging));
  return Plan(std::make_shared<PlanData>(std::move(plan)));
}

}  // namespace

Plan compile(const Graph& graph, const Exact& exact, const Registry& registry, const CompileOptions& options) {
  return compile_discrete(graph, "exact", registry, options, [&](PlanData& plan, auto discrete, auto hanging) {
    auto solver =
        std::make_shared<clique_tree::ExactSolver>(plan, std::move(discrete), std::move(hanging), exact.options);
    plan.solver_text = fmt::format("exact: {}", solver->tree().text());
    plan.solver = std::move(solver);
  });
}

Plan compile(const Graph& graph, const TreeReweighted& bounds, const Registry& registry,
             const CompileOptions& options) {
  return compile_discrete(
      graph, "tree_reweighted", registry, options, [&](PlanData& plan, auto discrete, auto hanging) {
        plan.solver =
            std::make_shared<clique_tree::ReweightedSolver>(std::move(discrete), std::move(hanging), bounds.options);
        plan.solver_text = "tree_reweighted: bounds of the evidence";
      });
}

ExactComparison compare_with_exact(const Graph& graph, const Scheduler& rule, const Registry& registry,
                                   const std::function<void(State&)>& observe, const ExactOptions& exact_options,
                                   const CompileOptions& options) {
  ExactComparison out;
  const Plan whole = compile(graph, exact(exact_options), registry, options);
  const Plan swept = compile(graph, rule, registry, options);
  State a(swept), b(whole);
  observe(a);
  observe(b);
  out.sweeps = run(swept, a);
  (void)run(whole, b);
  out.log_evidence_of_sweeps = log_evidence(swept, a);
  out.log_evidence = log_evidence(whole, b);
  for (std::uint32_t v = 0; v < whole->variables.size(); ++v) {
    const auto& variable = whole->variables[v];
    if (variable.observed || variable.family.outcomes() == 0) continue;
    const std::vector<double> found = a.belief({v}).means(), expected = b.belief({v}).means();
    ExactComparison::Row row{variable.name};
    for (std::size_t i = 0; i < found.size(); ++i)
      row.difference = std::max(row.difference, std::abs(found[i] - expected[i]));
    out.rows.push_back(std::move(row));
  }
  return out;
}

std::string ExactComparison::text() const {
  std::string text = fmt::format("sweeps: {}\nlog evidence: {:.6g} by sweeps, {:.6g} exact\n", sweeps.line(),
                                 log_evidence_of_sweeps, log_evidence);
  for (const Row& row : rows) text += fmt::format("  {:.2g}  {}\n", row.difference, row.variable);
  return text;
}

}  // namespace dma
