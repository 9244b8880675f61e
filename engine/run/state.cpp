#include "engine/run/state.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/run/messages_at.h"
#include "engine/run/solver.h"
#include "engine/support/error.h"

namespace dma {

namespace {

PlanData::Membership membership_of(const PlanData& plan, FactorId factor) {
  if (factor.value >= plan.memberships.size() || !factor.is_of(plan.graph->mark))
    fail("factor {} is not of the graph of this plan, which has {}; use the ids that this graph gave", factor.value,
         plan.memberships.size());
  return plan.memberships[factor.value];
}

}  // namespace

State::State(Plan of)
    : plan_(std::move(of)),
      mark_(plan_->graph->mark),
      tau_(plan_->slots),
      rho_(plan_->slots),
      arrival_tau_(plan_->arrivals),
      arrival_rho_(plan_->arrivals),
      parameters_(*plan_),
      scratch_(plan_->scratch),
      sends_(*plan_, {messages(), {arrival_tau_.data(), arrival_rho_.data()}, scratch_.data()}, parameters_) {
  const PlanData& plan = *plan_;
  total_tau_.resize(plan.elements);
  if (plan.gathers_by_element) {
    total_rho_.resize(plan.elements);
    total_abs_.resize(plan.elements);
    total_stamp_.resize(plan.elements);
  }
  if (plan.schedule.order != Schedule::Order::once) growth_.resize(plan.slots - plan.first_message);
  if (plan.schedule.order == Schedule::Order::residual) {
    priority_.resize(plan.schedule.visits.size());
    heap_.resize(priority_.size());
    position_.resize(priority_.size());
  }
  values_.reserve(plan.variables.size());
  for (const auto& v : plan.variables) {
    const bool is_plain_number = v.observed && v.size == 1 && v.family == Family::gaussian;
    values_.push_back({v.first_slot, v.size, v.family, v.observed, false, is_plain_number});
    missing_ += v.observed;
  }
  if (plan.solver != nullptr) solver_memory_ = plan.solver->make_memory(plan);
}

State::~State() = default;
State::State(State&&) noexcept = default;
State& State::operator=(State&&) noexcept = default;

// Apart from observe(), which is called for every value of every example: it has nothing but the good case.
void State::refuse_values(VariableId variable, std::span<const double> values) const {
  const auto& v = plan_->variable(variable);
  if (!v.observed) fail("variable '{}' is not observed; declare it with graph.observed(...)", v.name);
  if (values.size() != v.size)
    fail("variable '{}' was given {} values but has {} elements", v.name, values.size(), v.size);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i]))
      fail("variable '{}', element {}: the observed value is {}; a finite number is expected", v.name, i, values[i]);
    if (v.family == Family::log_normal && !(values[i] > 0))
      fail("variable '{}', element {}: the observed value is {}; a log_normal variable is positive", v.name, i,
           values[i]);
  }
}

void State::observe(VariableId variable, std::span<const double> values) {
  if (!knows(variable)) return refuse_values(variable, values);
  ValueSlots& target = values_[variable.value];
  if (!target.observed || values.size() != target.size) return refuse_values(variable, values);
  const bool is_log = target.family == Family::log_normal;
  const double least = is_log ? 0 : -kInfinity;
  for (const double value : values)
    if (!(value > least && value < kInfinity)) return refuse_values(variable, values);
  for (std::size_t i = 0; i < values.size(); ++i) {
    tau_[target.first_slot + i] = is_log ? std::log(values[i]) : values[i];
    rho_[target.first_slot + i] = kInfinity;
  }
  if (!target.given) --missing_;
  target.given = true;
}

void State::observe_missing(VariableId variable, std::size_t element) {
  const auto& v = plan_->variable(variable);
  if (!v.observed) fail("variable '{}' is not observed; declare it with graph.observed(...)", v.name);
  if (element >= v.size) fail("variable '{}' has {} elements, there is no element {}", v.name, v.size, element);
  ValueSlots& target = values_[variable.value];
  if (!target.given && v.size > 1)
    fail("variable '{}' has no value yet; observe all its elements before one is declared missing", v.name);
  tau_[target.first_slot + element] = rho_[target.first_slot + element] = 0;
  if (!target.given) --missing_;
  target.given = true;
}

void State::set_parameter(FactorId factor, std::string_view parameter, std::span<const double> values) {
  const PlanData::Membership membership = membership_of(*plan_, factor);
  const Group& group = plan_->groups[membership.group];
  const auto& specs = group.kind->parameters();
  const auto found = std::ranges::find(specs, parameter, &ParameterSpec::name);
  const Resolved::Factor& owner = plan_->graph->factors[group.members[membership.member]];
  if (found == specs.end()) {
    if (owner.origins.size() > 1)
      fail("factor '{}' is fused and has no parameter '{}'; compile with {{.fuse = false}} to set it", owner.name(),
           parameter);
    std::vector<std::string> known;
    for (const auto& spec : specs) known.push_back(spec.name);
    fail("factor '{}' has no parameter '{}'{}", owner.name(), parameter, suggestion(parameter, known));
  }
  for (const double value : values)
    if (!found->domain.contains(value))
      fail("factor '{}': parameter '{}' is {}, but must be in {}", owner.name(), parameter, value,
           describe(found->domain));
  const auto i = static_cast<std::size_t>(found - specs.begin());
  const std::size_t terms = group.parameters[i].terms, in_all = owner.slots * terms;
  if (values.size() != 1 && values.size() != terms && values.size() != in_all)
    fail("factor '{}': parameter '{}' takes 1{}{} value{}, not {}", owner.name(), parameter,
         terms == 1 ? "" : fmt::format(" or {}", terms), in_all == terms ? "" : fmt::format(" or {}", in_all),
         in_all == 1 ? "" : "s", values.size());
  const bool for_each_slot = values.size() == in_all && in_all > terms;
  if (parameters_.is_shared(membership.group, i) && (for_each_slot || group.members.size() > 1)) {
    parameters_.separate(*plan_, membership.group, i);
    sends_.rebind(membership.group, i, this->parameter(membership.group, i));
  }
  const auto numbers = parameters_.numbers(membership.group, i, group.first_slot[membership.member], owner.slots);
  for (std::size_t k = 0; k < numbers.size(); ++k) numbers[k] = values[k % values.size()];
  constants_stale_ = true;
}

Belief State::belief(VariableId variable) const {
  if (plan_->solver != nullptr) return plan_->solver->belief(*this, variable);
  const auto& v = plan_->variable(variable);
  if (v.eliminated) fail("variable '{}' was fused away; compile with {{.fuse = false}} to see its belief", v.name);
  std::vector<Natural> elements(v.size);
  const auto absorb = [&](std::size_t i, std::size_t slot) { elements[i] = multiply(elements[i], message(slot)); };
  if (v.first_slot != kNowhere)
    for (std::uint32_t i = 0; i < v.size; ++i) absorb(i, v.first_slot + i);
  for_each_message(*plan_, v, absorb);
  for (Natural& element : elements) element = with_finite_moments(element);
  return {v.name, v.family, std::move(elements)};
}

std::vector<Gaussian> State::messages(FactorId factor, std::string_view port_name) const {
  const PlanData::Membership membership = membership_of(*plan_, factor);
  const Group& group = plan_->groups[membership.group];
  const Resolved::Factor& resolved = plan_->graph->factors[group.members[membership.member]];
  const bool is_fused = resolved.origins.size() > 1;
  if (is_fused && std::ranges::find(group.kind->ports(), port_name, &PortSpec::name) == group.kind->ports().end())
    fail("factor '{}' is fused and has no port '{}'; compile with {{.fuse = false}} to see its messages",
         resolved.name(), port_name);
  const Group::Port& port = group.ports[group.kind->port(port_name)];
  const std::uint32_t slots = resolved.slots;
  std::vector<Gaussian> out;
  for (std::uint32_t q = 0; q < slots * port.terms; ++q) {
    const std::size_t slot = port.first_slot + std::size_t{group.first_slot[membership.member]} * port.terms + q;
    out.emplace_back(tau_[slot], rho_[slot]);
  }
  return out;
}

MessageArrays State::context(VariableId shared_variable) {
  const auto& v = plan_->variable(shared_variable);
  if (!v.shared) fail("variable '{}' is not shared; declare it with graph.shared(...)", v.name);
  return {tau_.data() + v.first_slot, rho_.data() + v.first_slot};
}

State State::copy() const {
  State other(plan_);
  // Into the arrays that its operations point to.
  std::ranges::copy(tau_, other.tau_.begin());
  std::ranges::copy(rho_, other.rho_.begin());
  std::ranges::copy(arrival_tau_, other.arrival_tau_.begin());
  std::ranges::copy(arrival_rho_, other.arrival_rho_.begin());
  other.parameters_.copy_from(*plan_, parameters_);
  for (std::uint32_t g = 0; g < plan_->groups.size(); ++g)
    for (std::size_t i = 0; i < plan_->groups[g].parameters.size(); ++i)
      other.sends_.rebind(g, i, other.parameter(g, i));
  other.values_ = values_;
  other.missing_ = missing_;
  other.constants_stale_ = constants_stale_;
  other.refused_constants_ = refused_constants_;
  return other;
}

void State::reset() {
  for (const Group& group : plan_->groups)
    for (const Group::Port& port : group.ports) {
      std::fill_n(tau_.begin() + port.first_slot, group.slots * port.terms, 0.0);
      std::fill_n(rho_.begin() + port.first_slot, group.slots * port.terms, 0.0);
    }
  std::ranges::fill(arrival_tau_, 0.0);
  std::ranges::fill(arrival_rho_, 0.0);
  constants_stale_ = true;
}

}  // namespace dma
