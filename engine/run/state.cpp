#include "engine/run/state.h"

#include <algorithm>

#include "engine/run/solver.h"
#include "engine/support/error.h"

namespace dma {

namespace {

PlanData::Place place_of(const PlanData& plan, FactorId factor) {
  if (factor.value >= plan.places.size()) fail("factor {} is not part of this plan", factor.value);
  return plan.places[factor.value];
}

}  // namespace

State::State(Plan of)
    : plan_(std::move(of)),
      tau_(plan_->slots),
      rho_(plan_->slots),
      arrival_tau_(plan_->arrivals),
      arrival_rho_(plan_->arrivals),
      parameters_(plan_->parameters),
      scratch_(plan_->scratch) {
  const PlanData& plan = *plan_;
  total_tau_.resize(plan.elements);
  if (!plan.element_of_slot.empty()) {
    total_rho_.resize(plan.elements);
    total_abs_.resize(plan.elements);
    total_stamp_.resize(plan.elements);
  }
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
  bind();
  if (plan.solver != nullptr) solver_memory_ = plan.solver->make_memory(plan);
}

State::~State() = default;
State::State(State&&) noexcept = default;
State& State::operator=(State&&) noexcept = default;

void State::bind() {
  const PlanData& plan = *plan_;
  const bool tracked = plan.schedule.order != Schedule::Order::once;
  std::uint32_t terms_at_most = 1;
  for (const Group& group : plan.groups)
    for (const Group::Port& port : group.ports) terms_at_most = std::max(terms_at_most, port.terms);
  uniform_.assign(terms_at_most, 0.0);
  std::vector<std::uint32_t> first_parameter;
  for (const Group& group : plan.groups) {
    first_parameter.push_back(static_cast<std::uint32_t>(parameter_views_.size()));
    for (const auto& p : group.parameters) {
      const auto terms = static_cast<std::ptrdiff_t>(p.terms);
      parameter_views_.push_back({parameters_.data() + p.first, p.per_slot ? group.columns * terms : 0,
                                  p.per_slot ? terms : 0, p.terms});
    }
  }
  const auto bind_send = [&](const Send& op, bool track) {
    const Group& group = plan.groups[op.group];
    const Group::Port& port = group.ports[op.port];
    const MessageFunction& message = *port.message;
    BoundSend bound;
    bound.first_parameter = first_parameter[op.group];
    bound.group = op.group, bound.port = op.port, bound.first = op.is_sequence ? 0 : op.first;
    bound.messages = std::uint64_t{op.count} * port.terms;
    Call& call = bound.call;
    call.sink = {tau_.data() + port.first_slot, rho_.data() + port.first_slot, track ? plan.schedule.iteration.damping : 0};
    call.out_terms = port.terms;
    call.out_column = port.terms;
    call.out_row = std::ptrdiff_t{group.columns} * port.terms;
    call.scratch = scratch_.data();
    call.callable = message.callable.get();
    if (op.is_sequence) {
      bound.sequence_kernel = track ? message.sequence_tracked : message.sequence;
      bound.first_read = static_cast<std::uint32_t>(sequence_reads_.size());
      for (std::size_t i = 0; i < message.reads.size(); ++i) {
        const Group::Port& read = group.ports[message.reads[i]];
        sequence_reads_.push_back({read.first_slot, read.first_arrival, read.terms, (op.refresh >> i & 1) != 0,
                                   (op.keep >> i & 1) != 0});
      }
      bound.sequence = {op.first, op.step, op.count, {plan.first_incident.data(), plan.incident_slots.data(),
                        plan.element_of_slot.data()}, {tau_.data(), rho_.data()}, {arrival_tau_.data(), arrival_rho_.data()}};
    } else {
      bound.kernel = track ? message.plate_tracked : message.plate;
      if (op.joint != nullptr) {
        const Group::Port& second = group.ports[op.joint->second];
        bound.kernel = track ? op.joint->plate_tracked : op.joint->plate;
        call.second_sink = {tau_.data() + second.first_slot, rho_.data() + second.first_slot, call.sink.damping};
        bound.messages *= 2;
      }
      bound.first_read = static_cast<std::uint32_t>(port_views_.size());
      const bool whole = op.count == group.slots;
      call.rows = whole ? group.slots / group.columns : 1;
      call.columns = whole ? group.columns : op.count;
      call.sink.tau += std::size_t{op.first} * port.terms;
      call.sink.rho += std::size_t{op.first} * port.terms;
      if (op.first > 0) {  // its parameters, too, begin there
        bound.first_parameter = static_cast<std::uint32_t>(parameter_views_.size());
        for (std::size_t i = 0; i < group.parameters.size(); ++i) {
          ParameterView view = parameter_views_[first_parameter[op.group] + i];
          view.values += std::ptrdiff_t{op.first} * view.column;
          parameter_views_.push_back(view);
        }
      }
      for (std::size_t i = 0; i < op.reads.size(); ++i) {
        const ReadView& view = op.reads[i];
        const std::uint32_t terms = group.ports[message.reads[i]].terms;
        PortView bound_view{uniform_.data(), uniform_.data(), view.row, view.column, terms};
        if (view.from == ReadView::From::messages) bound_view.tau = tau_.data(), bound_view.rho = rho_.data();
        if (view.from == ReadView::From::arrivals) bound_view.tau = arrival_tau_.data(), bound_view.rho = arrival_rho_.data();
        if (view.from != ReadView::From::uniform) {
          const std::size_t offset = view.first + std::size_t{op.first} * view.column;
          bound_view.tau += offset, bound_view.rho += offset;
        }
        port_views_.push_back(bound_view);
      }
      // The slots before the first message hold observed values and contexts, which no sweep changes.
      bound.reads_given_alone = !op.reads.empty() && std::ranges::all_of(op.reads, [&](const ReadView& view) {
        return view.from == ReadView::From::messages && view.first < plan.first_message;
      });
    }
    return bound;
  };
  for (const Operation& op : plan.constants) constant_sends_.push_back(bind_send(std::get<Send>(op), false));
  for (const Operation& op : plan.operations)
    if (const Send* send = std::get_if<Send>(&op)) sends_.push_back(bind_send(*send, tracked));
  for (auto* list : {&constant_sends_, &sends_})
    for (BoundSend& bound : *list) {
      bound.call.reads = port_views_.data() + (bound.sequence_kernel ? 0 : bound.first_read);
      bound.call.parameters = parameter_views_.data() + bound.first_parameter;
    }
}

// Apart from observe(), which is called for every value of every example: it has nothing but the good case.
void State::refuse_values(VariableId variable, std::span<const double> values) const {
  const auto& v = plan_->variables.at(variable.value);
  if (!v.observed) fail("variable '{}' is not observed; declare it with graph.observed(...)", v.name);
  if (values.size() != v.size) fail("variable '{}' was given {} values but has {} elements", v.name, values.size(), v.size);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i]))
      fail("variable '{}', element {}: the observed value is {}; a finite number is expected", v.name, i, values[i]);
    if (v.family == Family::log_normal && !(values[i] > 0))
      fail("variable '{}', element {}: the observed value is {}; a log_normal variable is positive", v.name, i, values[i]);
  }
}

void State::observe(VariableId variable, std::span<const double> values) {
  if (variable.value >= values_.size()) return refuse_values(variable, values);
  ValuePlace& place = values_[variable.value];
  if (!place.observed || values.size() != place.size) return refuse_values(variable, values);
  const bool is_log = place.family == Family::log_normal;
  const double least = is_log ? 0 : -kInfinity;
  for (const double value : values)
    if (!(value > least && value < kInfinity)) return refuse_values(variable, values);
  for (std::size_t i = 0; i < values.size(); ++i) {
    tau_[place.first_slot + i] = is_log ? std::log(values[i]) : values[i];
    rho_[place.first_slot + i] = kInfinity;
  }
  if (!place.given) --missing_;
  place.given = true;
}

void State::set_parameter(FactorId factor, std::string_view parameter, std::span<const double> values) {
  const PlanData::Place place = place_of(*plan_, factor);
  const Group& group = plan_->groups[place.group];
  const auto& specs = group.kind->parameters();
  const auto found = std::ranges::find(specs, parameter, &ParameterSpec::name);
  const Resolved::Factor& owner = plan_->graph->factors[group.members[place.member]];
  if (found == specs.end()) {
    if (owner.origins.size() > 1)
      fail("factor '{}' is fused and has no parameter '{}'; compile with {{.fuse = false}} to set it", owner.name(), parameter);
    std::vector<std::string> known;
    for (const auto& spec : specs) known.push_back(spec.name);
    fail("factor '{}' has no parameter '{}'{}", owner.name(), parameter, suggestion(parameter, known));
  }
  for (const double value : values)
    if (!found->domain.contains(value))
      fail("factor '{}': parameter '{}' is {}, but must be in {}", owner.name(), parameter, value, describe(found->domain));
  const Group::Parameter& p = group.parameters[static_cast<std::size_t>(found - specs.begin())];
  const std::size_t held = p.per_slot ? std::size_t{owner.slots} * p.terms : p.terms;
  if (values.size() != 1 && values.size() != held)
    fail("factor '{}': parameter '{}' takes 1{} value{}, not {}", owner.name(), parameter,
         held == 1 ? "" : " or " + std::to_string(held), held == 1 ? "" : "s", values.size());
  double* const out = parameters_.data() + p.first + (p.per_slot ? group.first_slot[place.member] * p.terms : 0);
  for (std::size_t i = 0; i < held; ++i) out[i] = values[values.size() == 1 ? 0 : i];
  constants_stale_ = true;
}

Belief State::belief(VariableId variable) const {
  if (plan_->solver != nullptr) return plan_->solver->belief(*this, variable);
  const auto& v = plan_->variables.at(variable.value);
  if (v.eliminated) fail("variable '{}' was fused away; compile with {{.fuse = false}} to see its belief", v.name);
  std::vector<Natural> elements(v.size);
  const auto absorb = [&](std::size_t i, std::size_t slot) { elements[i] = multiply(elements[i], {tau_[slot], rho_[slot]}); };
  if (v.first_slot != kNowhere)
    for (std::uint32_t i = 0; i < v.size; ++i) absorb(i, v.first_slot + i);
  if (!plan_->incident_slots.empty()) {
    for (std::uint32_t i = 0; i < v.size; ++i)
      for (std::uint32_t k = plan_->first_incident[v.first_element + i]; k < plan_->first_incident[v.first_element + i + 1]; ++k)
        if (v.first_slot == kNowhere || plan_->incident_slots[k] != v.first_slot + i) absorb(i, plan_->incident_slots[k]);
  } else {
    for (const auto& end : v.ends) {
      const Group& group = plan_->groups[end.group];
      const Group::Port& port = group.ports[end.port];
      for (std::uint32_t q = 0; q < group.slots * port.terms; ++q)
        if (const std::uint32_t i = port.elements(q) - v.first_element; i < v.size) absorb(i, port.first_slot + q);
    }
  }
  return {v.name, v.family, std::move(elements)};
}

std::vector<Gaussian> State::messages(FactorId factor, std::string_view port_name) const {
  const PlanData::Place place = place_of(*plan_, factor);
  const Group& group = plan_->groups[place.group];
  const Resolved::Factor& resolved = plan_->graph->factors[group.members[place.member]];
  const bool is_fused = resolved.origins.size() > 1;
  if (is_fused && std::ranges::find(group.kind->ports(), port_name, &PortSpec::name) == group.kind->ports().end())
    fail("factor '{}' is fused and has no port '{}'; compile with {{.fuse = false}} to see its messages", resolved.name(),
         port_name);
  const Group::Port& port = group.ports[group.kind->port(port_name)];
  const std::uint32_t slots = resolved.slots;
  std::vector<Gaussian> out;
  for (std::uint32_t q = 0; q < slots * port.terms; ++q) {
    const std::size_t slot = port.first_slot + std::size_t{group.first_slot[place.member]} * port.terms + q;
    out.emplace_back(tau_[slot], rho_[slot]);
  }
  return out;
}

MessageArrays State::context(VariableId shared_variable) {
  const auto& v = plan_->variables.at(shared_variable.value);
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
  std::ranges::copy(parameters_, other.parameters_.begin());
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
