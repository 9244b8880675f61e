#include "engine/learn/messages/shared_factors.h"

#include <algorithm>

#include "engine/compile/plan_data.h"
#include "engine/run/executor.h"

namespace dma {

namespace {

bool depends_on_cavities(const Plan& plan) {
  return std::ranges::any_of(plan->variables, [](const PlanData::Variable& v) {
    return std::ranges::any_of(v.ends,
                               [](const PlanData::Variable::End& end) { return end.of_model && !end.in_cavity; });
  });
}

}  // namespace

SharedFactors::SharedFactors(const Graph& graph, const Registry& registry, const Scheduler& schedule,
                             CompileOptions options)
    : own_factors_(graph.factors().size()), own_variables_(graph.variables().size()) {
  Graph part;
  for (std::size_t k = 0; k < graph.factors().size(); ++k) {
    const auto& f = graph.factors()[k];
    const auto is_shared = [&](const Connection& c) { return graph[c.variable].shared; };
    if (!std::ranges::all_of(f.connections, is_shared)) continue;
    std::vector<Connection> connections(f.connections.begin(), f.connections.end());
    for (Connection& c : connections) {
      auto& own = own_variables_[c.variable.value];
      const auto& v = graph[c.variable];
      if (!own) own = part.shared(v.name.text(), v.size, v.family);
      c.variable = *own;
    }
    own_factors_[k] = part.factor_like(f, std::move(connections));
  }
  if (part.factors().empty()) return;
  options.constants_in_cavity = true;
  options.predicted.clear();
  options.unobserved.clear();
  const Plan plan = compile(part, schedule, registry, options);
  if (!depends_on_cavities(plan)) return;
  state_ = std::make_unique<State>(plan);
  drop_constants();
}

void SharedFactors::drop_constants() {
  if (state_ == nullptr) return;
  Executor executor(*state_);
  executor.refresh_constants();
  for (std::uint32_t v = 0; v < state_->plan()->variables.size(); ++v) {
    std::vector<double> tau(state_->plan()->variables[v].size), rho(tau);
    executor.take_constants({v}, {tau.data(), rho.data()});
  }
}

void SharedFactors::set_parameter(FactorId factor, std::string_view parameter, std::span<const double> values) {
  if (state_ == nullptr || factor.value >= own_factors_.size() || !own_factors_[factor.value]) return;
  state_->set_parameter(*own_factors_[factor.value], parameter, values);
  drop_constants();
}

void SharedFactors::update(State& cavities) {
  if (state_ == nullptr) return;
  for (std::uint32_t v = 0; v < own_variables_.size(); ++v)
    if (own_variables_[v]) {
      const MessageArrays from = cavities.cavity({v}), to = state_->cavity(*own_variables_[v]);
      const std::uint32_t size = state_->plan()->variables[own_variables_[v]->value].size;
      std::copy_n(from.tau, size, to.tau);
      std::copy_n(from.rho, size, to.rho);
    }
  run(state_->plan(), *state_, {.diagnose = false});
}

void SharedFactors::multiply_into(VariableId shared_variable, std::span<Natural> elements) const {
  if (state_ != nullptr && own_variables_[shared_variable.value])
    Executor(*state_).multiply_by_model(*own_variables_[shared_variable.value], elements);
}

}  // namespace dma
