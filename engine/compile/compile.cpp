#include "engine/compile/compile.h"

#include <algorithm>

#include "engine/compile/check_schedule.h"
#include "engine/compile/draft.h"
#include "engine/compile/lay_out.h"
#include "engine/compile/loops.h"
#include "engine/compile/lower.h"
#include "engine/compile/plan_data.h"
#include "engine/support/text.h"

namespace dma {

namespace {

bool has_something_to_fuse(const Resolved& graph, const Registry& registry) {
  return std::ranges::any_of(registry.fusions(), [&](const Fusion& fusion) {
    return std::ranges::find(graph.kinds, &registry.kind(fusion.producer)) != graph.kinds.end();
  });
}

// Fuses unless a graph without loops would lose its exact order of messages: a fused factor sends to all its inputs at
// once, and so waits for each of them. An order of whole plates, fused or not, costs less than one of slots.
void fuse_if_exact(Resolved& graph, const Registry& registry) {
  if (!has_something_to_fuse(graph, registry)) return;
  Resolved fused = graph;
  fuse(fused, registry);
  if (fused.factors.size() == graph.factors.size()) return;
  if (Flow(fused).exact_order(false) || !Flow(graph).exact_order()) graph = std::move(fused);
}

// The first kind with approximate messages; null: all are exact. Messages to observed variables count, because missing
// values are predicted by them.
const Kind* first_approximating(const Resolved& graph) {
  const Kind* kind = nullptr;
  const std::string* method = nullptr;
  const auto is_approximate = [&](const Resolved::Factor& factor) {
    if (factor.kind == kind && factor.method == method) return false;  // as the one before
    kind = factor.kind, method = factor.method;
    for (std::size_t p = 0; p < factor.ports.size(); ++p) {
      const MessageFunction* const message = kind->find_message(*method, p);
      if (message != nullptr && message->method != kExact) return true;
    }
    return false;
  };
  const auto found = std::ranges::find_if(graph.factors, is_approximate);
  return found == graph.factors.end() ? nullptr : found->kind;
}

// True for methods whose messages are exact if the function is linear in its unknown inputs.
bool is_exact_where_linear(const MessageFunction& message) {
  return message.method == kExact || message.method == kLinearisedMethod || message.method == "dma";
}

// True if the function of a factor is linear in all unknown inputs of a slot.
bool is_linear_given_values(const Resolved& graph, const Resolved::Factor& factor, std::uint32_t slot,
                            std::vector<std::uint8_t>& free) {
  free.clear();
  const auto varies = [&](VariableId v) { return !graph.variables[v.value].cuts; };
  for (std::size_t p = 0; p < factor.ports.size(); ++p) {
    const Resolved::Port& port = factor.ports[p];
    for (std::uint32_t t = 0; t < port.terms && !factor.kind->ports()[p].output; ++t) {
      const std::uint32_t e = port.elements(slot * port.terms + t);
      const auto may_be_there = [&](VariableId v) {
        const Resolved::Variable& variable = graph.variables[v.value];
        return varies(v) && (port.elements.is_given || e - variable.first_element < variable.size);
      };
      free.push_back(port.message != nullptr || std::ranges::any_of(port.variables, may_be_there));
    }
  }
  return factor.kind->linear_in() && factor.kind->linear_in()(free);
}

// The same if no value is missing.
const Kind* first_approximating_given_values(const Resolved& graph) {
  std::vector<std::uint8_t> free;
  const auto found = std::ranges::find_if_not(graph.factors, [&](const Resolved::Factor& factor) {
    const auto sent = [](const Resolved::Port& port) { return port.message != nullptr; };
    const auto is_exact = [&](const Resolved::Port& port) { return !sent(port) || port.message->method == kExact; };
    const auto may_be_exact = [&](const Resolved::Port& port) {
      return !sent(port) || is_exact_where_linear(*port.message);
    };
    if (std::ranges::all_of(factor.ports, is_exact)) return true;
    if (!std::ranges::all_of(factor.ports, may_be_exact)) return false;
    const auto has_one_variable = [](const Resolved::Port& port) { return port.variables.size() == 1; };
    const std::uint32_t slots =
        std::ranges::all_of(factor.ports, has_one_variable) ? 1 : factor.slots;  // the others are alike
    for (std::uint32_t s = 0; s < slots; ++s)
      if (!is_linear_given_values(graph, factor, s, free)) return false;
    return true;
  });
  return found == graph.factors.end() ? nullptr : found->kind;
}

bool is_gaussian(const Resolved& graph) {
  return std::ranges::all_of(graph.variables, [](const Resolved::Variable& v) { return v.family == Family(); });
}

// Decides how good the answers of a run can be.
void judge(const Resolved& graph, PlanData& plan) {
  plan.approximating = first_approximating(graph);
  plan.has_exact_messages = plan.approximating == nullptr;
  if (const Kind* const kind = plan.has_exact_messages ? nullptr : first_approximating_given_values(graph))
    plan.approximating = kind;
  else
    plan.is_exact_given_values = true;
  plan.is_gaussian = is_gaussian(graph);
  if (plan.schedule.order != Schedule::Order::once) plan.loop = find_loop(graph);
}

}  // namespace

Plan compile(const Graph& graph, const Scheduler& scheduler, const Registry& registry, const CompileOptions& options) {
  if (graph.factors().empty()) fail("the graph has no factors; add some before compiling it");
  const auto kept_registry = std::make_shared<const Registry>(registry);
  Resolved resolved = resolve(graph, *kept_registry, options);
  for (const Resolved::Factor& factor : resolved.factors)
    if (factor.kind->messages().empty())
      fail("factor '{}': kind '{}' has no messages; solve the graph by joint(), or register kind.message(...)",
           factor.name(), factor.kind->name());
  if (options.fuse && scheduler.allows_fusion) fuse_if_exact(resolved, *kept_registry);
  Draft draft(std::move(resolved));
  PlanData& plan = draft.plan;
  plan.registry = kept_registry;
  plan.schedule = scheduler.make(draft.flow);
  check_schedule(draft.graph, draft.flow, plan.schedule);
  lay_out(draft, options.constants_in_cavity);
  index_memberships(draft, graph.factors().size());
  lower(draft);
  judge(draft.graph, plan);
  return Plan(std::make_shared<PlanData>(std::move(plan)));
}

}  // namespace dma
