#include "engine/compile/compile.h"

#include <algorithm>

#include "engine/compile/lower.h"
#include "engine/support/error.h"

namespace dma {

namespace {

void check(const Iteration& iteration) {
  if (!(iteration.damping >= 0 && iteration.damping < 1))
    fail("schedule: damping is {}; it must be in [0, 1)", iteration.damping);
  if (!(iteration.tolerance >= 0)) fail("schedule: tolerance is {}; it must be 0 or more", iteration.tolerance);
  if (iteration.limit < 1) fail("schedule: the limit is {} sweeps; at least 1 is expected", iteration.limit);
}

bool has_something_to_fuse(const Resolved& graph, const Registry& registry) {
  return std::ranges::any_of(registry.fusions(), [&](const Fusion& fusion) {
    return std::ranges::find(graph.kinds, &registry.kind(fusion.producer)) != graph.kinds.end();
  });
}

// Fuses unless that would cost a graph without loops its exact order of messages: a fused factor sends to all its inputs
// at once, and so waits for each of them.
void fuse_if_exact(Resolved& graph, const Registry& registry) {
  if (!has_something_to_fuse(graph, registry)) return;
  Resolved fused = graph;
  fuse(fused, registry);
  if (fused.factors.size() == graph.factors.size()) return;
  if (Flow(fused).exact_order() || !Flow(graph).exact_order()) graph = std::move(fused);
}

bool forms_totals(const PlanData& plan) {
  return std::ranges::any_of(plan.operations, [](const Operation& op) { return std::holds_alternative<GatherOthers>(op); });
}

bool has_exact_messages(const PlanData& plan) {
  return std::ranges::all_of(plan.groups, [](const Group& group) {
    return std::ranges::all_of(group.ports, [](const Group::Port& port) {
      return port.message == nullptr || port.message->method == kExact;
    });
  });
}

}  // namespace

Plan compile(const Graph& graph, const Scheduler& scheduler, const Registry& registry, const CompileOptions& options) {
  if (graph.factors().empty()) fail("the graph has no factors; add some before compiling it");
  const auto data = std::make_shared<PlanData>();
  PlanData& plan = *data;
  auto kept_registry = std::make_shared<const Registry>(registry);
  auto resolved = std::make_shared<Resolved>(resolve(graph, *kept_registry, options));
  plan.registry = kept_registry;
  plan.graph = resolved;
  if (options.fuse && scheduler.allows_fusion) fuse_if_exact(*resolved, *kept_registry);
  const Flow flow(*resolved);
  plan.schedule = scheduler.make(flow);
  check(plan.schedule.iteration);
  const auto group_slots = lay_out(flow, options.constants_in_context, plan);
  index_memberships(graph.factors().size(), plan);
  lower(flow, group_slots, plan);
  plan.has_exact_messages = has_exact_messages(plan);
  plan.forms_totals = forms_totals(plan);
  plan.graph.reset();  // the largest part, and all that a run needs is elsewhere
  return Plan(data);
}

}  // namespace dma
