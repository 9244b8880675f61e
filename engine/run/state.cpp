#include "engine/run/state.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "engine/run/messages_at.h"
#include "engine/run/solver.h"
#include "engine/support/error.h"

namespace dma {

namespace {

const std::optional<Domain>& observed_at(const PlanData& plan, const PlanData::Variable::End& end) {
  return plan.groups[end.group].kind->ports()[end.port].observed;
}

// A factor of it takes fewer values than its family.
bool observes_less(const PlanData& plan, const PlanData::Variable& v) {
  return std::ranges::any_of(v.ends, [&](const auto& end) { return observed_at(plan, end).has_value(); });
}
void check_observed(const PlanData& plan, const Incidence& incidence, const PlanData::Variable& v,
                    std::span<const double> values) {
  for (const auto& end : v.ends)
    if (const std::optional<Domain>& domain = observed_at(plan, end))
      for_each_message(plan, incidence, v, end, [&](std::uint32_t i, std::uint32_t slot) {
        if (domain->contains(values[i])) return;
        const Group::Port& port = plan.groups[end.group].ports[end.port];
        fail("variable '{}', element {}: the observed value is {}; factor '{}' expects {}{}", v.name, i, values[i],
             plan.slot_name(end.group, (slot - port.first_slot) / port.terms), describe(*domain), domain->advice);
      });
}

}  // namespace

State::State(Plan of)
    : plan_(std::move(of)),
      mark_(plan_->mark),
      tau_(plan_->slots),
      rho_(plan_->slots),
      arrival_tau_(plan_->arrivals),
      arrival_rho_(plan_->arrivals),
      parameters_(*plan_),
      scratch_(plan_->scratch),
      memory_(plan_->memory),
      tables_(given_tables(*plan_)),
      element_of_slot_(tables_.empty() ? std::vector<std::uint32_t>() : plan_->element_of_slot),
      first_incident_(tables_.empty() ? std::vector<std::uint32_t>() : plan_->first_incident),
      incident_slots_(tables_.empty() ? std::vector<std::uint32_t>() : plan_->incident_slots),
      sends_(*plan_,
             {messages(), {arrival_tau_.data(), arrival_rho_.data()}, scratch_.data(), memory_.data(), incidence()},
             parameters_),
      held_(*plan_),
      hubs_(*plan_) {
  const PlanData& plan = *plan_;
  total_tau_.resize(plan.elements);
  if (plan.forms_totals) {
    total_rho_.resize(plan.elements);
    total_abs_.resize(plan.elements);
    total_stamp_.resize(plan.elements);
  }
  if (plan.schedule.order != Schedule::Order::once) divergence_.resize(plan.slots - plan.first_message);
  if (plan.schedule.order == Schedule::Order::residual) priority_.emplace(plan.visits_at, plan.schedule.visits.size());
  values_.reserve(plan.variables.size());
  for (const auto& v : plan.variables) {
    const bool keeps = v.family->keeps_values && !(v.observed && observes_less(plan, v));
    values_.push_back({v.first_slot, v.size, v.observed, false, keeps, keeps && v.observed && v.size == 1});
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
  if (values.size() != v.values())
    fail("variable '{}' was given {} values but has {} elements{}", v.name, values.size(), v.elements(),
         v.family.values() == 1 ? "" : fmt::format(" of {} numbers", v.family.values()));
  std::vector<double> tau(v.size), rho(v.size);
  const std::size_t i = v.family->observe(values, v.family.components(), tau.data(), rho.data());
  if (i == v.elements()) return check_observed(*plan_, incidence(), v, values);
  fail("variable '{}', element {}: the observed value is {}; {} is expected{}", v.name, i,
       fmt::join(values.subspan(i * v.family.values(), v.family.values()), ", "), v.family->values,
       v.family->keeps_values ? "" : fmt::format(" of a {} variable", v.family.text()));
}

void State::observe(VariableId variable, std::span<const double> values) {
  if (!knows(variable)) return refuse_values(variable, values);
  ValueSlots& target = values_[variable.value];
  if (!target.observed) return refuse_values(variable, values);
  ended_.reset();
  if (target.keeps_values) {
    if (values.size() != target.size) return refuse_values(variable, values);
    for (const double value : values)
      if (!(std::abs(value) < kInfinity)) return refuse_values(variable, values);
    std::ranges::copy(values, tau_.begin() + target.first_slot);
    std::fill_n(rho_.begin() + target.first_slot, values.size(), kInfinity);
  } else {
    const auto& v = plan_->variables[variable.value];
    if (values.size() != v.values()) return refuse_values(variable, values);
    // Looked at before anything is stored: what is refused leaves the state as it was.
    std::vector<double> tau(v.size), rho(v.size);
    if (v.family->observe(values, v.family.components(), tau.data(), rho.data()) != v.elements())
      return refuse_values(variable, values);
    check_observed(*plan_, incidence(), v, values);
    std::ranges::copy(tau, tau_.begin() + target.first_slot);
    std::ranges::copy(rho, rho_.begin() + target.first_slot);
  }
  if (!target.given) --missing_;
  target.given = true;
  target.has_missing = false;
}

void State::set_parameter(FactorId factor, std::string_view parameter, std::span<const double> values) {
  const PlanData::Membership membership = plan_->membership(factor);
  const Group& group = plan_->groups[membership.group];
  const auto& specs = group.kind->parameters();
  const auto found = std::ranges::find(specs, parameter, &ParameterSpec::name);
  const FactorTable::Factor owner = plan_->factors[group.members[membership.member]];
  const std::uint32_t slots = group.slots_of(membership.member);
  if (found == specs.end()) {
    if (owner.origins.size() > 1)
      fail("factor '{}' is fused and has no parameter '{}'; compile with {{.fuse = false}} to set it", owner.name(),
           parameter);
    std::vector<std::string> known;
    for (const auto& spec : specs) known.push_back(spec.name);
    fail("factor '{}' has no parameter '{}'{}", owner.name(), parameter, suggestion(parameter, known));
  }
  if (found->prepare)
    fail("factor '{}': parameter '{}' is a table that compile() checks; give it to the graph, and compile again",
         owner.name(), parameter);
  for (const double value : values)
    if (!found->domain.contains(value))
      fail("factor '{}': parameter '{}' is {}, but must be in {}", owner.name(), parameter, value,
           describe(found->domain));
  const auto i = static_cast<std::size_t>(found - specs.begin());
  const std::size_t terms = group.parameters[i].terms, in_all = slots * terms;
  if (values.size() != 1 && values.size() != terms && values.size() != in_all)
    fail("factor '{}': parameter '{}' takes 1{}{} value{}, not {}", owner.name(), parameter,
         terms == 1 ? "" : fmt::format(" or {}", terms), in_all == terms ? "" : fmt::format(" or {}", in_all),
         in_all == 1 ? "" : "s", values.size());
  const bool for_each_slot = values.size() == in_all && in_all > terms;
  if (parameters_.is_shared(membership.group, i) && (for_each_slot || group.members.size() > 1)) {
    parameters_.separate(*plan_, membership.group, i);
    sends_.rebind(membership.group, i, this->parameter(membership.group, i));
  }
  const auto numbers = parameters_.numbers(membership.group, i, group.first_slot[membership.member], slots);
  for (std::size_t k = 0; k < numbers.size(); ++k) numbers[k] = values[k % values.size()];
  constants_stale_ = true;
  ended_.reset();
}

Belief State::belief(VariableId variable) const {
  if (plan_->solver != nullptr) return plan_->solver->belief(*this, variable);
  const auto& v = plan_->variable(variable);
  if (v.eliminated) fail("variable '{}' was fused away; compile with {{.fuse = false}} to see its belief", v.name);
  std::vector<Natural> elements(v.size);
  const auto absorb = [&](std::size_t i, std::size_t slot) { elements[i] = multiply(elements[i], message(slot)); };
  if (v.first_slot != kNowhere)
    for (std::uint32_t i = 0; i < v.size; ++i) absorb(i, v.first_slot + i);
  for_each_message(*plan_, incidence(), v, absorb);
  if (values_[variable.value].has_missing) predict_missing(v, elements);
  v.family->close(elements);
  if (!v.name.is_given()) return {v.name.number(), v.family, std::move(elements)};
  return {v.name, v.family, std::move(elements)};
}

std::vector<Gaussian> State::messages(FactorId factor, std::string_view port_name) const {
  const PlanData::Membership membership = plan_->membership(factor);
  const Group& group = plan_->groups[membership.group];
  const FactorTable::Factor resolved = plan_->factors[group.members[membership.member]];
  const bool is_fused = resolved.origins.size() > 1;
  if (is_fused && std::ranges::find(group.kind->ports(), port_name, &PortSpec::name) == group.kind->ports().end())
    fail("factor '{}' is fused and has no port '{}'; compile with {{.fuse = false}} to see its messages",
         resolved.name(), port_name);
  const Group::Port& port = group.ports[group.kind->port(port_name)];
  const std::uint32_t slots = group.slots_of(membership.member);
  std::vector<Gaussian> out;
  for (std::uint32_t q = 0; q < slots * port.terms; ++q) {
    const std::size_t slot = port.first_slot + std::size_t{group.first_slot[membership.member]} * port.terms + q;
    out.emplace_back(tau_[slot], rho_[slot]);
  }
  return out;
}

MessageArrays State::cavity(VariableId shared_variable) {
  const auto& v = plan_->variable(shared_variable);
  if (!v.shared) fail("variable '{}' is not shared; declare it with graph.shared(...)", v.name);
  ended_.reset();  // it is there to be written
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
  std::ranges::copy(memory_, other.memory_.begin());
  if (solver_memory_ == nullptr) other.ended_ = ended_;
  other.tables_ = tables_;
  std::ranges::copy(element_of_slot_, other.element_of_slot_.begin());
  std::ranges::copy(first_incident_, other.first_incident_.begin());
  std::ranges::copy(incident_slots_, other.incident_slots_.begin());
  other.tables_stale_ = tables_stale_;
  other.values_ = values_;
  other.missing_ = missing_;
  other.constants_stale_ = constants_stale_;
  other.frozen_ = frozen_;
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
  std::ranges::fill(memory_, 0.0);
  restore_frozen();
  constants_stale_ = true;
  ended_.reset();
}

}  // namespace dma
