#include "engine/run/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "engine/kinds/kind.h"
#include "engine/run/factor_mass.h"
#include "engine/run/messages_at.h"
#include "engine/run/solver.h"
#include "engine/run/state_data.h"
#include "engine/run/sweep_memory.h"
#include "engine/support/text.h"

namespace dma {

namespace {

const std::optional<Domain>& observed_at(const PlanData& plan, const PlanData::Variable::End& end) {
  return plan.groups[end.group].kind->ports()[end.port].observed;
}

// True if a factor takes fewer values than the family.
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

void carry_values(const State& whole, State& part, std::uint32_t v) {
  const PlanData::Variable of = whole.plan()->variables[v];
  if (!whole.is_given({v})) fail("observed variable '{}' has no value; give it one with state.observe(...)", of.name);
  std::vector<std::optional<double>> values;
  for (std::uint32_t e = 0; e < of.size; e += of.family.components()) {
    std::vector<Natural> point;
    for (std::uint32_t k = 0; k < of.family.components(); ++k)
      point.push_back(whole.data().message(of.first_slot + e + k));
    if (is_flat(point)) values.insert(values.end(), of.family.values(), std::nullopt);
    else
      for (const double x : observed_value(of.family, point)) values.emplace_back(x);
  }
  part.observe({v}, values);
}

}  // namespace

ObservedValues::ObservedValues(const PlanData& plan) : mark_(plan.mark) {
  slots_.reserve(plan.variables.size());
  for (const auto& v : plan.variables) {
    const bool keeps = v.family->keeps_values && !(v.observed && observes_less(plan, v));
    slots_.push_back({v.first_slot, v.size, v.observed, false, keeps, keeps && v.observed && v.size == 1});
    not_given_ += v.observed;
  }
}

void ObservedValues::check_all_given(const PlanData& plan) const {
  for (std::uint32_t v = 0; not_given_ > 0 && v < plan.variables.size(); ++v)
    if (plan.variables[v].observed && !slots_[v].given)
      fail("observed variable '{}' has no value; call state.observe({}, ...) before run", plan.variables[v].name,
           plan.variables[v].name);
}

bool ObservedValues::has_missing() const { return std::ranges::any_of(slots_, &ValueSlots::has_missing); }

StateData::StateData(Plan of) : plan(std::move(of)), store(*plan), values(*plan), parameters(*plan), tables(*plan) {
  const BoundSends::Memory arrays{store.messages(), store.arrivals(), store.scratch.data(), store.memory.data(),
                                  incidence()};
  sweeping = std::make_unique<SweepMemory>(*plan, arrays, parameters);
  if (plan->solver != nullptr) solver_memory = plan->solver->make_memory(*plan);
}
StateData::~StateData() = default;

void StateData::append_parameters(std::uint32_t group, std::uint32_t slot, std::vector<double>& out) const {
  for (std::size_t i = 0; i < plan->groups[group].parameters.size(); ++i) {
    const ParameterView view = parameter(group, i);
    out.insert(out.end(), view.at(0, slot), view.at(0, slot) + view.terms);
  }
}

Natural StateData::product_at(const PlanData::Variable& v, std::uint32_t element, std::uint32_t without) const {
  Natural product;
  if (v.first_slot != kNowhere) product = message(v.first_slot + element);
  if (product.is_point() || v.cuts) return product;
  for (const auto& end : v.ends)
    for_each_message_at(*plan, incidence(), v, end, element, [&](std::uint32_t slot) {
      if (slot != without) product = multiply(product, message(slot));
    });
  return product;
}

State::State(Plan of) : plan_(std::move(of)), data_(std::make_unique<StateData>(plan_)) {}

// Matches variables and factors by id.
State::State(Plan of, const State& before) : State(std::move(of)) {
  const PlanData &now = *plan_, &then = *before.plan_;
  if (now.mark != then.mark)
    fail("the state to carry over is that of another graph; one of this graph, as it was before it grew, is expected");
  if (now.variables.size() < then.variables.size() || now.memberships.size() < then.memberships.size())
    fail(
        "the state to carry over has {} variables and {} factors, "
        "and this plan {} and {}; a graph that has grown is expected",
        then.variables.size(), then.memberships.size(), now.variables.size(), now.memberships.size());
  const auto take = [&](std::uint32_t from, std::uint32_t to, std::uint32_t count) {
    std::copy_n(before.data_->store.tau.begin() + from, count, data_->store.tau.begin() + to);
    std::copy_n(before.data_->store.rho.begin() + from, count, data_->store.rho.begin() + to);
  };
  for (std::uint32_t v = 0; v < then.variables.size(); ++v) {
    const PlanData::Variable old = then.variables[v], same = now.variables[v];
    if (const ValueSlots& known = before.data_->values[VariableId{v}]; old.observed && same.observed && known.given) {
      take(old.first_slot, same.first_slot, old.size);
      data_->values.give(data_->values[VariableId{v}], known.has_missing);
    }
    if (old.shared && same.shared && !same.observed) take(old.first_slot, same.first_slot, old.size);
  }
  if (now.solver != nullptr || then.solver != nullptr) return;
  for (std::uint32_t f = 0; f < then.memberships.size(); ++f) {
    const auto [old_group, old_member] = then.memberships[f];
    const auto [group, member] = now.memberships[f];
    if (old_group == kNowhere || group == kNowhere) continue;  // fused with another
    const Group &old = then.groups[old_group], &same = now.groups[group];
    const std::uint32_t slots = old.slots_of(old_member);
    if (old.kind->name() != same.kind->name() || slots != same.slots_of(member)) continue;
    for (std::size_t p = 0; p < old.ports.size(); ++p)
      if (const std::uint32_t terms = old.ports[p].terms; terms == same.ports[p].terms)
        take(old.ports[p].first_slot + old.first_slot[old_member] * terms,
             same.ports[p].first_slot + same.first_slot[member] * terms, slots * terms);
  }
  data_->store.has_widening = before.data_->store.has_widening;
  for (const VariableId frozen : before.frozen()) freeze(frozen);
}

State::~State() = default;
State::State(State&&) noexcept = default;
State& State::operator=(State&&) noexcept = default;

std::span<const VariableId> State::frozen() const { return data_->frozen.variables; }
SolverMemory* State::solver_memory() const { return data_->solver_memory.get(); }

bool State::is_given(VariableId variable) const {
  if (!data_->values.knows(variable)) (void)plan_->variable(variable);  // throws
  return data_->values[variable].given;
}

// Slow path of observe(), which itself handles only valid values.
void State::refuse_values(VariableId variable, std::span<const double> values) const {
  const auto& v = plan_->variable(variable);
  if (!v.observed) fail("variable '{}' is not observed; declare it with graph.observed(...)", v.name);
  if (values.size() != v.values())
    fail("variable '{}' was given {} values but has {} elements{}", v.name, values.size(), v.elements(),
         v.family.values() == 1 ? "" : fmt::format(" of {} numbers", v.family.values()));
  std::vector<double> tau(v.size), rho(v.size);
  const std::size_t i = v.family->observe(values, v.family.components(), tau.data(), rho.data());
  if (i == v.elements()) return check_observed(*plan_, data_->incidence(), v, values);
  fail("variable '{}', element {}: the observed value is {}; {} is expected{}", v.name, i,
       joined(values.subspan(i * v.family.values(), v.family.values())), v.family->values,
       v.family->keeps_values ? "" : fmt::format(" of a {} variable", v.family.text()));
}

void State::observe(VariableId variable, double value) {
  const bool is_known = data_->values.knows(variable) && data_->values[variable].is_plain_number;
  if (!is_known || !(std::abs(value) < kInfinity)) return observe(variable, std::span(&value, 1));
  ended_.reset();
  ValueSlots& target = data_->values[variable];
  data_->store.tau[target.first_slot] = value;
  data_->store.rho[target.first_slot] = kInfinity;  // it may have been missing before
  data_->values.give(target, false);
}

void State::observe(VariableId variable, std::span<const double> values) {
  if (!data_->values.knows(variable)) return refuse_values(variable, values);
  ValueSlots& target = data_->values[variable];
  if (!target.observed) return refuse_values(variable, values);
  ended_.reset();
  if (target.keeps_values) {
    if (values.size() != target.size) return refuse_values(variable, values);
    for (const double value : values)
      if (!(std::abs(value) < kInfinity)) return refuse_values(variable, values);
    std::ranges::copy(values, data_->store.tau.begin() + target.first_slot);
    std::fill_n(data_->store.rho.begin() + target.first_slot, values.size(), kInfinity);
  } else {
    const auto& v = plan_->variables[variable.value];
    if (values.size() != v.values()) return refuse_values(variable, values);
    // Checks before storing: a refused value leaves the state unchanged.
    std::vector<double> tau(v.size), rho(v.size);
    if (v.family->observe(values, v.family.components(), tau.data(), rho.data()) != v.elements())
      return refuse_values(variable, values);
    check_observed(*plan_, data_->incidence(), v, values);
    std::ranges::copy(tau, data_->store.tau.begin() + target.first_slot);
    std::ranges::copy(rho, data_->store.rho.begin() + target.first_slot);
  }
  data_->values.give(target, false);
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
    fail("factor '{}' has no parameter '{}'{}", owner.name(), parameter,
         suggestion(parameter, specs, &ParameterSpec::name));
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
  if (data_->parameters.is_shared(membership.group, i) && (for_each_slot || group.members.size() > 1)) {
    data_->parameters.separate(*plan_, membership.group, i);
    data_->sweeping->sends.rebind(membership.group, i, data_->parameter(membership.group, i));
  }
  const auto numbers = data_->parameters.numbers(membership.group, i, group.first_slot[membership.member], slots);
  for (std::size_t k = 0; k < numbers.size(); ++k) numbers[k] = values[k % values.size()];
  data_->sweeping->constants_are_stale = true;
  ended_.reset();
}

Belief State::belief(VariableId variable) const {
  if (plan_->solver != nullptr) return plan_->solver->belief(*this, variable);
  const auto& v = plan_->variable(variable);
  if (v.eliminated) fail("variable '{}' was fused away; compile with {{.fuse = false}} to see its belief", v.name);
  std::vector<Natural> elements(v.size);
  const auto absorb = [&](std::size_t i, std::size_t slot) {
    elements[i] = multiply(elements[i], data_->message(slot));
  };
  if (v.first_slot != kNowhere)
    for (std::uint32_t i = 0; i < v.size; ++i) absorb(i, v.first_slot + i);
  for_each_message(*plan_, data_->incidence(), v, absorb);
  if (data_->values[variable].has_missing) predict_missing(*data_, v, elements);
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
    out.emplace_back(data_->store.tau[slot], data_->store.rho[slot]);
  }
  return out;
}

MessageArrays State::cavity(VariableId shared_variable) {
  const auto& v = plan_->variable(shared_variable);
  if (!v.shared) fail("variable '{}' is not shared; declare it with graph.shared(...)", v.name);
  ended_.reset();  // the caller may write to it
  return data_->store.messages().from(v.first_slot);
}

State State::copy() const {
  State other(plan_);
  other.data_->store.copy_from(data_->store);
  other.data_->values = data_->values;
  other.data_->parameters.copy_from(*plan_, data_->parameters);
  for (std::uint32_t g = 0; g < plan_->groups.size(); ++g)
    for (std::size_t i = 0; i < plan_->groups[g].parameters.size(); ++i)
      other.data_->sweeping->sends.rebind(g, i, other.data_->parameter(g, i));
  other.data_->tables.copy_from(data_->tables);
  other.data_->frozen = data_->frozen;
  other.data_->sweeping->constants_are_stale = data_->sweeping->constants_are_stale;
  other.data_->sweeping->refused_constants = data_->sweeping->refused_constants;
  if (data_->solver_memory == nullptr) other.ended_ = ended_;
  return other;
}

void State::set_table(FactorId factor, std::string_view port, std::span<const std::uint32_t> elements) {
  data_->tables.set(*plan_, factor, port, elements);
  ended_.reset();
}

void State::reset() {
  data_->swap_frozen({0, plan_->slots});
  for (const Group& group : plan_->groups)
    for (const Group::Port& port : group.ports) data_->store.make_uniform({port.first_slot, group.slots * port.terms});
  data_->store.make_arrivals_uniform({0, plan_->arrivals});
  std::ranges::fill(data_->store.memory, 0.0);
  data_->store.has_widening = data_->frozen.any() && data_->store.has_widening;
  data_->swap_frozen({0, plan_->slots});
  data_->sweeping->constants_are_stale = true;
  ended_.reset();
}

void carry_over(const State& whole, State& part, std::span<const std::uint32_t> factors) {
  const PlanData& plan = *whole.plan();
  for (std::uint32_t v = 0; v < plan.variables.size(); ++v) {
    const PlanData::Variable from = plan.variables[v], to = part.plan()->variables[v];
    if (from.observed && to.observed && !to.ends.empty()) carry_values(whole, part, v);
    if (!from.shared || !to.shared) continue;
    const MessageArrays cavity = part.cavity({v});
    for (std::uint32_t i = 0; i < to.size; ++i) {
      const Natural m = whole.data().message(from.first_slot + i);
      cavity.tau[i] = m.tau;
      cavity.rho[i] = m.rho;
    }
  }
  for (std::uint32_t f = 0; f < factors.size(); ++f) {
    const auto [g, member] = plan.membership({factors[f]});
    const Group& group = plan.groups[g];
    for (std::size_t i = 0; i < group.parameters.size(); ++i) {
      const ParameterSpec& spec = group.kind->parameters()[i];
      if (spec.prepare) continue;  // never changes
      const ParameterView view = whole.data().parameter(g, i);
      const std::size_t slots = view.column == 0 ? 1 : group.slots_of(member);
      const double* const first = view.values + static_cast<std::ptrdiff_t>(group.first_slot[member]) * view.column;
      part.set_parameter({f}, spec.name, {first, slots * view.terms});
    }
  }
}

}  // namespace dma
