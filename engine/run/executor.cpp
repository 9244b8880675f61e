#include "engine/run/executor.h"

#include <algorithm>

#include <fmt/format.h>

#include "engine/support/error.h"
#include "engine/run/gather.h"
#include "engine/run/urgency.h"

namespace dma {

namespace {

Contradiction contradiction(std::string_view variable, std::uint32_t element, double known, double found) {
  return Contradiction(fmt::format(
      "variable '{}', element {}: it is exactly {} and exactly {} at the same time; change an observation, or give one of its "
      "factors a positive variance",
      variable, element, known, found));
}

}  // namespace

void Executor::check_observed() const {
  if (state_.missing_ == 0) return;
  for (std::size_t v = 0; v < plan_.variables.size(); ++v)
    if (plan_.variables[v].observed && !state_.values_[v].given)
      fail("observed variable '{}' has no value; call state.observe({}, ...) before run", plan_.variables[v].name,
           plan_.variables[v].name);
}

void Executor::refresh_constants() {
  if (!state_.constants_stale_) return;
  Total total;
  for (const auto& op : state_.constant_sends_) send(op, total);
  state_.refused_constants_ = {total.faults, total.fault_group, total.fault_port, total.fault_slot};
  state_.constants_stale_ = false;
}

Executor::Total Executor::refused_constants() const {
  const auto& refused = state_.refused_constants_;
  return {0, refused.faults, 0, 0, refused.group, refused.port, refused.slot};
}

void Executor::start_fresh() {
  for (const SlotRange& range : plan_.resets) {
    std::fill_n(state_.tau_.begin() + range.first, range.count, 0.0);
    std::fill_n(state_.rho_.begin() + range.first, range.count, 0.0);
  }
  for (const SlotRange& range : plan_.arrival_resets) {
    std::fill_n(state_.arrival_tau_.begin() + range.first, range.count, 0.0);
    std::fill_n(state_.arrival_rho_.begin() + range.first, range.count, 0.0);
  }
}

void Executor::send(const State::BoundSend& op, Total& total) {
  Outcome outcome;
  if (op.sequence_kernel != nullptr)
    op.sequence_kernel(op.call, op.sequence, state_.sequence_reads_.data() + op.first_read, outcome);
  else
    op.kernel(op.call, outcome);
  total.messages += op.messages;
  total.change = std::max(total.change, outcome.change);
  total.replaced += outcome.replaced;
  if (outcome.faults == 0) return;
  if (total.faults == 0) {
    total.fault_group = op.group;
    total.fault_port = op.port;
    total.fault_slot = op.first + outcome.first_fault;
  }
  total.faults += outcome.faults;
}

void Executor::execute(std::size_t first, std::size_t last, std::size_t first_send, bool again, Total& total) {
  const MessageArrays messages{state_.tau_.data(), state_.rho_.data()};
  for (std::size_t i = first; i < last; ++i) {
    const Operation& op = plan_.operations[i];
    if (std::holds_alternative<Send>(op)) {
      const State::BoundSend& next = state_.sends_[first_send++];
      if (!(again && next.reads_given_alone)) send(next, total);
    } else if (const Combine* c = std::get_if<Combine>(&op)) {
      combine(*c, messages, {state_.arrival_tau_.data() + c->first_arrival, state_.arrival_rho_.data() + c->first_arrival});
    } else {
      const auto& gather = std::get<GatherOthers>(op);
      const Group::Port& port = plan_.groups[gather.group].ports[gather.port];
      const ElementTotals totals{state_.total_tau_.data(), state_.total_rho_.data(), state_.total_abs_.data(),
                                 state_.total_stamp_.data(), ++state_.stamp_};
      leave_one_out(port.first_slot + gather.first, gather.count,
                    {plan_.first_incident.data(), plan_.incident_slots.data(), plan_.element_of_slot.data()}, messages, totals,
                    {state_.arrival_tau_.data() + port.first_arrival + gather.first,
                     state_.arrival_rho_.data() + port.first_arrival + gather.first});
    }
  }
}

void Executor::sweep(Total& total, bool again) { execute(0, plan_.operations.size(), 0, again, total); }

std::uint64_t Executor::sweep_by_urgency(double tolerance, std::uint64_t limit, Total& total, Trend& trend,
                                         Report& report) {
  UrgencyQueue queue(state_.priority_, state_.heap_, state_.position_);
  const double damping = plan_.schedule.iteration.damping;
  std::uint64_t visits = 0;
  for (; visits < limit && queue.largest() > tolerance; ++visits) {
    const std::uint32_t now = queue.take();
    const bool clean = total.faults == 0;
    total.change = 0;
    execute(plan_.first_operation[now], plan_.first_operation[now + 1], plan_.first_send[now], false, total);
    inform_readers(now, total.change, queue);
    // A damped message went 1 - damping of its way; the rest of it is still to be done.
    if (damping > 0) queue.raise(now, total.change * damping / (1 - damping));
    const int sweep = static_cast<int>(visits / plan_.schedule.visits.size()) + 1;
    trend.add(sweep, total.change);
    if (clean && total.faults > 0) report.first_fault_sweep = sweep;
  }
  total.change = queue.largest();
  return visits;
}

// A factor is not informed by its own message, unless it reaches the element by another slot as well.
void Executor::inform_readers(std::uint32_t now, double change, UrgencyQueue& queue) const {
  const Visit& visit = plan_.schedule.visits[now];
  const auto& factor = plan_.graph->factors[visit.factor];
  for (std::size_t p = 0; p < factor.ports.size(); ++p)
    if (visit.send & (1u << p))
      for (const VariableId v : factor.ports[p].variables)
        for (const std::uint32_t reader : plan_.visits_at[v.value])
          if (reader != now || plan_.reaches_an_element_twice[now]) queue.raise(reader, change);
}

// Calls visit(element of the variable, slot) for every message of one end.
template <class Visit>
void Executor::for_each_message(const PlanData::Variable& variable, const PlanData::Variable::End& end, const Visit& visit) const {
  const Group& group = plan_.groups[end.group];
  const Group::Port& port = group.ports[end.port];
  const std::uint32_t count = group.slots * port.terms;
  if (port.elements.is_identical()) {
    // The slots that reach this variable are consecutive.
    const std::uint32_t first = std::max(port.elements.base, variable.first_element);
    const std::uint32_t last = std::min(port.elements.base + count, variable.first_element + variable.size);
    for (std::uint32_t e = first; e < last; ++e) visit(e - variable.first_element, port.first_slot + e - port.elements.base);
  } else {
    for (std::uint32_t q = 0; q < count; ++q)
      if (const std::uint32_t i = port.elements(q) - variable.first_element; i < variable.size) visit(i, port.first_slot + q);
  }
}

Natural Executor::prediction(VariableId variable, std::uint32_t element) const {
  const auto& v = plan_.variables[variable.value];
  const MessageArrays messages{state_.tau_.data(), state_.rho_.data()};
  Natural sum;
  for (const auto& end : v.ends)
    for_each_message(v, end, [&](std::uint32_t i, std::uint32_t slot) {
      if (i == element) sum = multiply(sum, messages[slot]);
    });
  return sum;
}

bool Executor::absorb(VariableId shared_variable, bool has_points) {
  const auto& v = plan_.variables[shared_variable.value];
  const MessageArrays messages{state_.tau_.data(), state_.rho_.data()}, context = messages.from(v.first_slot);
  for (const auto& end : v.ends) {
    if (end.of_model) continue;
    const Group& group = plan_.groups[end.group];
    const Group::Port& port = group.ports[end.port];
    const bool is_whole = port.elements.is_identical() && port.elements.base == v.first_element && group.slots * port.terms == v.size;
    if (is_whole && !has_points) {
      has_points = multiply(context, messages.from(port.first_slot), context, v.size);
      continue;
    }
    for_each_message(v, end, [&](std::uint32_t i, std::uint32_t slot) {
      const Natural known = context[i], message = messages[slot];
      if (known.is_point() && message.is_point() && !is_same_point(known.tau, message.tau))
        throw contradiction(v.name, i, known.tau, message.tau);
      has_points |= message.is_point();
      context.set(i, multiply(known, message));
    });
  }
  return has_points;
}

void Executor::multiply_by_example(VariableId shared_variable, const MessageArrays& to) const {
  const auto& v = plan_.variables[shared_variable.value];
  for (const auto& end : v.ends)
    if (!end.of_model)
      for_each_message(v, end, [&](std::uint32_t i, std::uint32_t slot) {
        to.set(i, multiply(to[i], {state_.tau_[slot], state_.rho_[slot]}));
      });
}

void Executor::take_constants(VariableId shared_variable, const MessageArrays& to) {
  const auto& v = plan_.variables[shared_variable.value];
  for (const auto& end : v.ends)
    if (end.in_context)
      for_each_message(v, end, [&](std::uint32_t i, std::uint32_t slot) {
        to.set(i, multiply(to[i], {state_.tau_[slot], state_.rho_[slot]}));
        state_.tau_[slot] = state_.rho_[slot] = 0;
      });
}

void Executor::multiply_by_model(VariableId shared_variable, std::span<Natural> elements) const {
  const auto& v = plan_.variables[shared_variable.value];
  for (const auto& end : v.ends)
    if (end.of_model)
      for_each_message(v, end, [&](std::uint32_t i, std::uint32_t slot) {
        elements[i] = multiply(elements[i], {state_.tau_[slot], state_.rho_[slot]});
      });
}

void Executor::check_contradictions() {
  // The first slots hold given values, which alone are no contradiction.
  std::int64_t points = 0;
  for (std::size_t slot = plan_.first_message; slot < state_.rho_.size(); ++slot) points += state_.rho_[slot] == kInfinity;
  if (points == 0) return;
  double* const location = state_.total_tau_.data();
  for (const auto& variable : plan_.variables) {
    if (variable.observed) continue;
    std::fill_n(location + variable.first_element, variable.size, std::numeric_limits<double>::quiet_NaN());
    for (const auto& end : variable.ends) {
      const Group& group = plan_.groups[end.group];
      const Group::Port& port = group.ports[end.port];
      for (std::uint32_t q = 0; q < group.slots * port.terms; ++q) {
        const std::uint32_t e = port.elements(q);
        if (state_.rho_[port.first_slot + q] != kInfinity || e - variable.first_element >= variable.size) continue;
        const double found = state_.tau_[port.first_slot + q];
        if (std::isnan(location[e])) location[e] = found;
        if (!is_same_point(found, location[e]))
          throw contradiction(variable.name, e - variable.first_element, location[e], found);
      }
    }
  }
}

void Executor::find_signal_to_noise(Report& report) const {
  double smallest = kInfinity;
  const auto consider = [&](const State::BoundSend& op, std::size_t port, std::uint64_t slot, const Natural& m) {
    if (!m.is_proper() || m.tau * m.tau / m.rho >= smallest) return;  // nothing known, or known exactly
    smallest = m.tau * m.tau / m.rho;
    report.signal_to_noise_at = {nullptr, op.group, static_cast<std::uint32_t>(port), slot};
  };
  const MessageArrays messages{state_.tau_.data(), state_.rho_.data()};
  for (const auto& op : state_.sends_) {
    const Group& group = plan_.groups[op.group];
    if (!group.kind->watches_signal_to_noise()) continue;
    const auto& ports = group.ports[op.port].message->reads;
    for (std::size_t i = 0; i < ports.size(); ++i) {
      if (op.sequence_kernel != nullptr) {
        const Sequence::Read& read = state_.sequence_reads_[op.first_read + i];
        std::int64_t at = op.sequence.first;
        for (std::uint64_t k = 0; k < op.sequence.count; ++k, at += op.sequence.step)
          for (std::uint32_t t = 0; t < read.terms; ++t) {
            const auto q = static_cast<std::uint32_t>(at) * read.terms + t;
            const bool kept = read.keep || !read.refresh;
            consider(op, ports[i], static_cast<std::uint64_t>(at),
                     kept ? op.sequence.arrivals[read.first_arrival + q]
                          : all_but(op.sequence.incidence, messages, read.first_slot + q));
          }
        continue;
      }
      const PortView& view = op.call.reads[i];
      for (std::size_t r = 0; r < op.call.rows; ++r)
        for (std::size_t c = 0; c < op.call.columns; ++c)
          for (std::size_t t = 0; t < view.terms; ++t)
            consider(op, ports[i], op.first + r * op.call.columns + c, view.at(r, c, t));
    }
  }
  if (smallest == kInfinity) return;
  report.signal_to_noise = std::sqrt(smallest);
  report.signal_to_noise_at.plan = state_.plan_.data();
}

}  // namespace dma
