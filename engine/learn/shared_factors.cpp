#include "engine/learn/shared_factors.h"

#include <algorithm>

#include "engine/run/executor.h"

namespace dma {

namespace {

// The same variables under the same ids; of the factors those that reach shared ones alone.
Graph shared_part(const Graph& graph, std::vector<std::optional<FactorId>>& own) {
  Graph part;
  for (const auto& v : graph.variables())
    v.shared ? part.shared(v.name, v.size, v.family) : part.variable(v.name, v.size, v.family);
  for (const auto& f : graph.factors()) {
    const bool joins_shared_alone =
        std::ranges::all_of(f.connections, [&](const Connection& c) { return graph[c.variable].shared; });
    own.emplace_back();
    if (!joins_shared_alone) continue;
    own.back() = part.factor(f.kind, std::vector<Connection>(f.connections.begin(), f.connections.end()), f.parameters,
                             {.name = f.name(), .method = f.method.get()});
  }
  return part;
}

bool depends_on_contexts(const Plan& plan) {
  return std::ranges::any_of(plan->variables, [](const PlanData::Variable& v) {
    return std::ranges::any_of(v.ends, [](const PlanData::Variable::End& end) { return end.of_model && !end.in_context; });
  });
}

}  // namespace

SharedFactors::SharedFactors(const Graph& graph, const Registry& registry, const Scheduler& schedule, CompileOptions options) {
  const Graph part = shared_part(graph, own_);
  if (part.factors().empty()) return;
  options.constants_in_context = true;
  options.predicted.clear();
  options.unobserved.clear();
  const Plan plan = compile(part, schedule, registry, options);
  if (depends_on_contexts(plan)) state_ = std::make_unique<State>(plan);
}

void SharedFactors::set_parameter(FactorId factor, std::string_view parameter, std::span<const double> values) {
  if (state_ != nullptr && factor.value < own_.size() && own_[factor.value])
    state_->set_parameter(*own_[factor.value], parameter, values);
}

void SharedFactors::update(State& contexts) {
  if (state_ == nullptr) return;
  const auto& variables = state_->plan()->variables;
  for (std::uint32_t v = 0; v < variables.size(); ++v)
    if (variables[v].shared) {
      const MessageArrays from = contexts.context({v}), to = state_->context({v});
      std::copy_n(from.tau, variables[v].size, to.tau);
      std::copy_n(from.rho, variables[v].size, to.rho);
    }
  run(state_->plan(), *state_, {.diagnose = false});
}

void SharedFactors::multiply_into(VariableId shared_variable, std::span<Natural> elements) const {
  if (state_ != nullptr) Executor(*state_).multiply_by_model(shared_variable, elements);
}

}  // namespace dma
