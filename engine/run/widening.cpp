// The part of Executor for messages of negative precision, see run.h.
#include <algorithm>

#include "engine/kinds/kind.h"
#include "engine/run/executor.h"
#include "engine/run/messages_at.h"
#include "engine/run/state_data.h"

namespace dma {

// One slot of an operation.
struct Executor::Slot {
  std::size_t row = 0, column = 0;  // in its views
  std::uint64_t in_call = 0;
  std::uint32_t in_group = 0;
  const ChainSegment* segment = nullptr;  // for a chain: a segment of that slot only

  Natural arrival(const Call& call, std::size_t i, std::uint32_t t) const {
    if (segment == nullptr) return call.reads[i].at(row, column, t);
    if (segment->table == nullptr)
      return segment->reads[i].product(static_cast<std::ptrdiff_t>(column * segment->reads[i].terms + t));
    const TableRead& read = segment->table_reads[i];
    return read.arrival(*segment->table, in_group * read.terms + t);
  }
};

namespace {

// Precision with which a widening message counts as a density, relative to the precision sent before.
constexpr double kLeastFraction = 1e-6;

struct WideningInputs {
  const PlanData& plan;
  const StateData& state;
  const BoundSend& op;
  SweepMemory::Arrived& arrived;
  const Group& group = plan.groups[op.group];
  const std::vector<std::size_t>& reads = group.ports[op.port].message->reads;
  std::size_t count = 0;
  bool are_densities = true;  // together with what the factor has sent

  // The messages on one port.
  std::span<const Natural> at(std::size_t port) const {
    std::size_t first = 0, i = 0;
    while (i < reads.size() && reads[i] != port) first += group.ports[reads[i++]].terms;
    return std::span(arrived.raw).subspan(first, i < reads.size() ? group.ports[port].terms : 0);
  }
  std::size_t count_at(std::size_t port) const {
    return is_gaussian(port) ? static_cast<std::size_t>(std::ranges::count_if(at(port), widens)) : 0;
  }
  bool is_gaussian(std::size_t port) const {
    return plan.variables.at_element(state.element(group.ports[port], 0)).family->is_like_gaussian;
  }

  void add(const Natural& m, bool is_widening, bool is_own_output, const Natural& said) {
    arrived.raw.push_back(m);
    arrived.as_density.push_back(m);
    if (!is_widening) return;
    ++count;
    arrived.as_density.back() = {};
    const Natural belief = multiply(m, said);
    are_densities &= is_own_output || belief.rho > 0;
    if (is_own_output || !belief.is_proper()) return;
    // With less precision the mean would shift by more than a standard deviation of the expected one.
    const double mean = belief.tau / belief.rho, shift = mean - said.tau / said.rho;
    const double rho = said.rho * std::max(kLeastFraction, shift * shift * said.rho);
    arrived.as_density.back() = {mean * (rho + said.rho) - said.tau, rho};
  }

  // True if the factor is linear in all arguments that are not known.
  bool is_linear(std::size_t target) const {
    const Kind& kind = *group.kind;
    if (kind.gaussian_row()) return true;
    if (!kind.linear_in()) return false;
    arrived.free.clear();
    for (std::size_t p = 0; p < group.ports.size(); ++p)
      for (std::uint32_t t = 0; !kind.ports()[p].output && t < group.ports[p].terms; ++t)
        arrived.free.push_back(p == target || at(p).empty() || !at(p)[t].is_point());
    return kind.linear_in()(arrived.free);
  }

  Outcome send(std::span<const Natural> arrivals, std::size_t target, std::uint64_t slot, const Sink& sink) {
    arrived.tau.clear();
    arrived.rho.clear();
    arrived.views.clear();
    for (const Natural& m : arrivals) {
      arrived.tau.push_back(m.tau);
      arrived.rho.push_back(m.rho);
    }
    std::size_t first = 0;
    for (const std::size_t port : reads) {
      const std::uint32_t terms = group.ports[port].terms;
      arrived.views.push_back({arrived.tau.data() + first, arrived.rho.data() + first, 0, 0, terms});
      first += terms;
    }
    const MessageFunction& message = *group.ports[target].message;
    Call call = op.call;
    call.rows = call.columns = 1;
    call.reads = arrived.views.data();
    call.parameters = arrived.parameters.data();
    call.callable = message.callable.get();
    call.sink = sink;
    call.second_sink = {};
    call.memory += slot * call.memory_size;
    Outcome outcome;
    message.plate(call, outcome);
    return outcome;
  }

  // A linear factor passes a widening message on, unless the integral does not exist.
  bool send_linear(std::size_t target, std::uint64_t slot, Sink sink, Outcome& outcome) {
    const std::size_t terms = op.call.out_terms;
    arrived.sent_tau.assign(terms, 0);
    arrived.sent_rho.assign(terms, 0);
    Sink room{arrived.sent_tau.data(), arrived.sent_rho.data()};
    room.keeps_widening = sink.keeps_widening = true;
    if (!is_linear(target) || send(arrived.raw, target, slot, room).faults > 0) return false;
    const std::span<const Natural> own = at(target);
    for (std::size_t t = 0; t < terms; ++t) {
      const std::size_t others = count - (!own.empty() && widens(own[t]));
      const bool is_uniform = room.rho[t] == 0;
      if (others > 1 || (others == 1 && !is_uniform && !(room.rho[t] < 0))) return false;
    }
    for (std::size_t t = 0; t < terms; ++t)
      sink.store(static_cast<std::ptrdiff_t>(t), {room.tau[t], room.rho[t]}, 0, outcome);
    return true;
  }
};

void add(const Outcome& one, std::uint64_t slot, Outcome& all) {
  if (one.faults > 0) all.first_fault = std::min(all.first_fault, slot);
  all.faults += one.faults;
  all.replaced += one.replaced;
  all.change = std::max(all.change, one.change);
  all.overflowed |= one.overflowed;
  all.has_widening |= one.has_widening;
}

}  // namespace

void Executor::compute(const BoundSend& op, Outcome& outcome) {
  if (!store_.has_widening) {
    op.kernel(op.call, outcome);
  } else {
    Slot at;
    for (at.row = 0; at.row < op.call.rows; ++at.row)
      for (at.column = 0; at.column < op.call.columns; ++at.column, ++at.in_call) {
        at.in_group = op.first + static_cast<std::uint32_t>(at.in_call);
        compute_among_widening(op, at, outcome);
      }
  }
  store_.has_widening |= outcome.has_widening;
}

// If one slot may send a widening message, the next one may read it.
void Executor::compute(const BoundSend& op, const ChainSegment& segment, Outcome& outcome) {
  if (!store_.has_widening && !op.call.sink.keeps_widening) return op.chain_kernel(op.call, segment, outcome);
  for (std::uint64_t step = 0; step < segment.count; ++step) {
    const ChainSegment one = segment.part(step, 1);
    const auto slot = static_cast<std::uint32_t>(one.first);
    if (store_.has_widening)
      compute_among_widening(op, {0, slot, slot, slot, &one}, outcome);
    else
      op.chain_kernel(op.call, one, outcome);
    store_.has_widening |= outcome.has_widening;
  }
}

void Executor::compute_among_widening(const BoundSend& op, const Slot& at, Outcome& outcome) {
  auto& arrived = memory_.arrived;
  arrived.raw.clear();
  arrived.as_density.clear();
  arrived.parameters.clear();
  WideningInputs inputs{plan_, state_, op, arrived};
  const Group& group = inputs.group;
  for (std::size_t i = 0; i < inputs.reads.size(); ++i) {
    const Group::Port& port = group.ports[inputs.reads[i]];
    const bool is_gaussian = inputs.is_gaussian(inputs.reads[i]),
               is_own_output = inputs.reads[i] == op.port && group.kind->ports()[op.port].output;
    for (std::uint32_t t = 0; t < port.terms; ++t) {
      const Natural m = at.arrival(op.call, i, t);
      inputs.add(m, is_gaussian && widens(m), is_own_output,
                 state_.message(port.first_slot + at.in_group * port.terms + t));
    }
  }
  for (std::size_t i = 0; i < group.parameters.size(); ++i)
    arrived.parameters.push_back({op.call.parameters[i].at(at.row, at.column), 0, 0, op.call.parameters[i].terms});

  for (Sink sink : {op.call.sink, op.call.second_sink}) {
    if (sink.tau == nullptr) continue;
    const std::size_t target = port_at(group, static_cast<std::size_t>(sink.tau - store_.tau.data()));
    const std::ptrdiff_t out = op.call.out_offset(at.segment == nullptr ? at.row : 0, at.column);
    sink.tau += out;
    sink.rho += out;
    Outcome one;
    if (inputs.count == 0) {
      one = inputs.send(arrived.raw, target, at.in_call, sink);
    } else if (!inputs.send_linear(target, at.in_call, sink, one)) {
      const bool has_cavity =
          inputs.count_at(target) == 0 || inputs.is_linear(target) || group.kind->ports()[target].output;
      if (inputs.are_densities && has_cavity) {
        one = inputs.send(arrived.as_density, target, at.in_call, sink);
        one.replaced += op.call.out_terms;
      } else {
        one.fault(0);
        for (std::uint32_t t = 0; !sink.is_tracked && t < op.call.out_terms; ++t) sink.tau[t] = sink.rho[t] = 0;
      }
    }
    add(one, at.in_call, outcome);
  }
}

std::size_t Executor::port_at(const Group& group, std::size_t slot) {
  std::size_t p = 0;
  while (!(slot - group.ports[p].first_slot < std::size_t{group.slots} * group.ports[p].terms)) ++p;
  return p;
}

std::optional<Place> Executor::improper_belief() const {
  std::vector<Natural>& beliefs = memory_.beliefs;
  for (std::uint32_t v = 0; store_.has_widening && v < plan_.variables.size(); ++v) {
    const PlanData::Variable variable = plan_.variables[v];
    if (variable.observed || variable.eliminated || !variable.family->is_like_gaussian) continue;
    beliefs.resize(variable.size);
    predict({v}, beliefs);
    std::optional<Place> found;
    for (const auto& end : variable.ends)
      for_each_message(plan_, state_.incidence(), variable, end, [&](std::uint32_t i, std::uint32_t slot) {
        const Group::Port& port = plan_.groups[end.group].ports[end.port];
        if (!found && beliefs[i].rho < 0 && store_.rho[slot] < 0)
          found = Place{state_.plan.data(), end.group, end.port, (slot - port.first_slot) / port.terms};
      });
    if (found) return found;
  }
  return {};
}

}  // namespace dma
