#include "engine/run/executor.h"

#include <algorithm>

#include "engine/compile/plan_data.h"
#include "engine/kinds/kind.h"
#include "engine/run/diagnosis.h"
#include "engine/run/gather.h"
#include "engine/run/messages_at.h"
#include "engine/run/watch.h"

namespace dma {

void Executor::check_observed() const { state_.values.check_all_given(plan_); }

void Executor::refresh_constants() {
  if (!memory_.constants_are_stale) return;
  Total total;
  for (const auto& op : memory_.sends.constants()) send(op, total);
  memory_.refused_constants = {total.faults, total.fault_group, total.fault_port, total.fault_slot};
  memory_.constants_are_stale = false;
}

Executor::Total Executor::refused_constants() const {
  const auto& refused = memory_.refused_constants;
  return {0, refused.faults, 0, 0, false, refused.group, refused.port, refused.slot};
}

void Executor::refresh_tables() {
  memory_.hubs.forget();
  state_.tables.refresh(plan_);
}

void Executor::start_fresh() {
  refresh_tables();
  MessageStore& store = store_;
  std::ranges::fill(store.memory, 0.0);
  store.has_widening = store.has_widening && state_.frozen.any();
  state_.swap_frozen({0, plan_.slots});
  for (const SlotRange& range : plan_.resets) store.make_uniform(range);
  for (const SlotRange& range : plan_.arrival_resets) store.make_arrivals_uniform(range);
  state_.swap_frozen({0, plan_.slots});
}

void Executor::send(const BoundSend& op, Total& total) {
  const bool is_frozen = state_.frozen.any(), is_chain = op.chain_kernel != nullptr;
  Outcome outcome;
  if (op.at_hubs || (is_frozen && is_chain)) {
    for (std::uint64_t step = 0; step < op.segment.count; ++step) send_slot(op, step, outcome);
  } else {
    const auto swap_frozen = [&] { for_each_target(op, [&](const SlotRange& slots) { state_.swap_frozen(slots); }); };
    if (is_frozen) [[unlikely]]
      swap_frozen();
    if (is_chain) compute(op, op.segment, outcome);
    else compute(op, outcome);
    if (is_frozen) [[unlikely]]
      swap_frozen();
    if (memory_.hubs.any()) for_each_target(op, [&](const SlotRange& slots) { update_hubs(slots); });
  }
  total.messages += op.messages;
  note(op, outcome, total);
}

void Executor::send_slot(const BoundSend& op, std::uint64_t step, Outcome& outcome) {
  const ChainSegment one = op.segment.part(step, 1);
  const SlotRange slots{
      static_cast<std::uint32_t>(op.call.sink.tau - store_.tau.data() + one.first * op.call.out_column),
      op.call.out_terms};
  if (op.at_hubs) gather_at_hubs(op, one.first);
  state_.swap_frozen(slots);
  compute(op, one, outcome);
  state_.swap_frozen(slots);
  if (memory_.hubs.any()) update_hubs(slots);
}

template <class Use>
void Executor::for_each_target(const BoundSend& op, const Use& use) const {
  std::int64_t first = 0;
  if (const ChainSegment& s = op.segment; op.chain_kernel != nullptr)
    first = s.step > 0 ? s.first : s.first - (static_cast<std::int64_t>(s.count) - 1);
  const std::uint64_t count = op.messages / (op.call.second_sink.tau == nullptr ? 1 : 2);
  for (const Sink* const sink : {&op.call.sink, &op.call.second_sink})
    if (sink->tau != nullptr)
      use(SlotRange{static_cast<std::uint32_t>(sink->tau - store_.tau.data() + first * op.call.out_column),
                    static_cast<std::uint32_t>(count)});
}

void Executor::send(const BoundSend& op, HeldCavities::Use& held, Total& total) {
  if (held.is_first) held.cavity->left = 0;
  Outcome outcome;
  held.kernel(op.call, *held.cavity, outcome);
  total.messages += op.messages;
  note(op, outcome, total);
}

bool Executor::hold(VariableId shared_variable) {
  return !state_.frozen.any() && memory_.held.hold(shared_variable, store_.messages(), store_.arrivals());
}

bool Executor::release() { return memory_.held.release(); }

// Progress of a chain.
struct ChainPosition {
  const BoundChain& chain;
  std::size_t segment = 0;
  std::uint64_t step = 0;  // within the segment

  bool is_at_end() const { return segment == chain.segments.size(); }
  const BoundChain::Segment& here() const { return chain.segments[segment]; }
  std::uint64_t left() const { return here().count - step; }
  void go_on(std::uint64_t steps) {
    step += steps;
    if (step == here().count) {
      ++segment;
      step = 0;
    }
  }
};

// Runs a chain to the end of its segment.
void Executor::finish_segment(ChainPosition& at, Total& total) {
  const std::span sends(memory_.sends.of_chains().data() + at.here().first_send, at.here().sends);
  const bool is_frozen = state_.frozen.any();
  // Several messages that need each other at every step are sent one step per call.
  const std::uint64_t at_once = sends.size() == 1 && !is_frozen ? at.left() : 1;
  for (std::uint64_t left = at.left(); left > 0; left -= at_once) {
    for (const BoundSend& op : sends) {
      Outcome outcome;
      if (is_frozen) send_slot(op, at.step, outcome);
      else compute(op, op.segment.part(at.step, at_once), outcome);
      note(op, outcome, total);
    }
    total.messages += sends.size() * at_once;
    at.go_on(at_once);
  }
}

void Executor::send(const BoundChain& op, Total& total) {
  for (ChainPosition at{op}; !at.is_at_end();) finish_segment(at, total);
}

void Executor::send(const BoundChain& first, const BoundChain& second, ChainPairKernel pair, Total& total) {
  ChainPosition a{first}, b{second};
  while (!a.is_at_end() || !b.is_at_end()) {
    if (a.is_at_end()) {
      finish_segment(b, total);
    } else if (b.is_at_end() || a.here().sends > 1 || b.here().sends > 1 || store_.has_widening) {
      finish_segment(a, total);
    } else {
      const auto& sends = memory_.sends.of_chains();
      const BoundSend &p = sends[a.here().first_send], &q = sends[b.here().first_send];
      const std::uint64_t count = std::min(a.left(), b.left());
      Outcome p_outcome, q_outcome;
      pair(p.call, p.segment.part(a.step, count), p_outcome, q.call, q.segment.part(b.step, count), q_outcome);
      note(p, p_outcome, total);
      note(q, q_outcome, total);
      total.messages += 2 * count;
      a.go_on(count);
      b.go_on(count);
    }
  }
}

// Returns how many chains were sent.
std::size_t Executor::send(std::span<const BoundChain> chains, Total& total) {
  memory_.hubs.forget();
  if (chains.size() < 2 || chains[1].pair == nullptr || state_.frozen.any()) {
    send(chains[0], total);
    return 1;
  }
  if (chains[1].is_first_of_pair) send(chains[1], chains[0], chains[1].pair, total);
  else send(chains[0], chains[1], chains[1].pair, total);
  return 2;
}

void Executor::note(const BoundSend& op, const Outcome& outcome, Total& total) {
  // A damped message moves 1 - damping of its way: rescaled, the change is the undamped one.
  total.change = std::max(total.change, outcome.change / (1 - op.call.sink.damping));
  total.replaced += outcome.replaced;
  total.overflowed |= outcome.overflowed;
  if (outcome.faults == 0) return;
  if (total.faults == 0) {
    total.fault_group = op.group;
    total.fault_port = op.port;
    total.fault_slot = op.first + outcome.first_fault;
  }
  total.faults += outcome.faults;
}

bool Executor::execute(std::size_t first, std::size_t last, std::size_t first_send, bool again, Total& total,
                       const Watch* watch) {
  const MessageArrays messages = store_.messages();
  std::uint64_t next_look = total.messages + Watch::kMessagesBetweenLooks;
  std::size_t next_chain = 0, done_chains = 0;  // only a sweep from the first operation on has chains
  for (std::size_t i = first; i < last; ++i) {
    if (watch != nullptr && total.messages >= next_look) {
      if (!watch->has_time()) return false;
      next_look = total.messages + Watch::kMessagesBetweenLooks;
    }
    const Operation& op = plan_.operations[i];
    if (std::holds_alternative<ChainSend>(op)) {
      if (next_chain == done_chains) done_chains += send(std::span(memory_.sends.chains()).subspan(next_chain), total);
      ++next_chain;
    } else if (std::holds_alternative<Send>(op)) {
      const BoundSend& next = memory_.sends.of_sweep()[first_send];
      ++first_send;
      if (HeldCavities::Use* const held = memory_.held.use(i)) send(next, *held, total);
      else if (!(again && next.reads_given_alone)) send(next, total);
    } else if (const Combine* c = std::get_if<Combine>(&op)) {
      if (memory_.held.use(i) != nullptr) continue;
      combine(*c, messages, store_.arrivals().from(c->first_arrival));
    } else {
      const auto& gather = std::get<GatherOthers>(op);
      const Group::Port& port = plan_.groups[gather.group].ports[gather.port];
      if (gather.at_hubs) {
        for (std::uint32_t q = gather.first; q < gather.first + gather.count; ++q)
          store_.arrivals().set(port.first_arrival + q,
                                memory_.hubs.all_but(state_.incidence(), messages, port.first_slot + q));
        continue;
      }
      leave_one_out(port.first_slot + gather.first, gather.count, gather.row, state_.incidence(), messages,
                    memory_.fresh_totals(), store_.arrivals().from(port.first_arrival + gather.first));
    }
  }
  return true;
}

Divergence Executor::watch_divergence() {
  return Divergence(memory_.divergence, store_.messages().from(plan_.first_message));
}

bool Executor::sweep(Total& total, bool again, const Watch* watch) {
  return execute(0, plan_.operations.size(), 0, again, total, watch);
}

std::size_t Executor::predict(VariableId variable, std::span<Natural> of_elements) const {
  const auto& v = plan_.variables[variable.value];
  std::ranges::fill(of_elements.first(v.size), Natural());
  for (const auto& end : v.ends)
    for_each_message(plan_, state_.incidence(), v, end, [&](std::uint32_t i, std::uint32_t slot) {
      of_elements[i] = multiply(of_elements[i], state_.message(slot));
    });
  return v.size;
}

bool Executor::absorb(VariableId shared_variable, bool has_points) {
  if (memory_.held.is_held(shared_variable)) return has_points;
  const auto& v = plan_.variables[shared_variable.value];
  const MessageArrays messages = store_.messages(), cavity = messages.from(v.first_slot);
  for (const auto& end : v.ends) {
    if (end.of_model) continue;
    const Group& group = plan_.groups[end.group];
    const Group::Port& port = group.ports[end.port];
    const bool is_whole =
        port.elements.is_identical() && port.elements.base == v.first_element && group.slots * port.terms == v.size;
    if (is_whole && !has_points) {
      has_points = multiply(cavity, messages.from(port.first_slot), cavity, v.size);
      continue;
    }
    for_each_message(plan_, state_.incidence(), v, end, [&](std::uint32_t i, std::uint32_t slot) {
      const Natural known = cavity[i], message = messages[slot];
      if (known.is_point() && message.is_point() && !is_same_point(known.tau, message.tau))
        throw contradiction(v.name, i, known.tau, message.tau);
      has_points |= message.is_point();
      cavity.set(i, multiply(known, message));
    });
  }
  return has_points;
}

void Executor::multiply_by_example(VariableId shared_variable, const MessageArrays& to,
                                   std::vector<std::uint32_t>* met) const {
  const auto& v = plan_.variables[shared_variable.value];
  for (const auto& end : v.ends)
    if (!end.of_model)
      for_each_message(plan_, state_.incidence(), v, end, [&](std::uint32_t i, std::uint32_t slot) {
        to.set(i, multiply(to[i], state_.message(slot)));
        if (met != nullptr && state_.message(slot) != Natural()) met->push_back(i);
      });
}

void Executor::take_constants(VariableId shared_variable, const MessageArrays& to) {
  const auto& v = plan_.variables[shared_variable.value];
  const MessageArrays messages = store_.messages();
  for (const auto& end : v.ends)
    if (end.in_cavity)
      for_each_message(plan_, state_.incidence(), v, end, [&](std::uint32_t i, std::uint32_t slot) {
        to.set(i, multiply(to[i], messages[slot]));
        messages.set(slot, {});
      });
}

void Executor::multiply_by_model(VariableId shared_variable, std::span<Natural> elements) const {
  const auto& v = plan_.variables[shared_variable.value];
  for (const auto& end : v.ends)
    if (end.of_model)
      for_each_message(plan_, state_.incidence(), v, end, [&](std::uint32_t i, std::uint32_t slot) {
        elements[i] = multiply(elements[i], state_.message(slot));
      });
}

// Elements where very many messages meet: see hubs.h.

// Gathers the inputs of one slot at the place where its kernel reads them.
void Executor::gather_at_hubs(const BoundSend& op, std::int64_t slot) {
  const auto& reads = plan_.groups[op.group].ports[op.port].message->reads;
  for (std::size_t i = 0; i < reads.size(); ++i) {
    const TableRead& read = op.segment.table_reads[i];
    const auto first = static_cast<std::uint32_t>(slot) * read.terms;
    for (std::uint32_t q = first; op.refresh.has(reads[i]) && q < first + read.terms; ++q)
      store_.arrivals().set(read.first_arrival + q,
                            memory_.hubs.all_but(state_.incidence(), store_.messages(), read.first_slot + q));
  }
}

// Call after messages to these slots have been sent.
void Executor::update_hubs(const SlotRange& slots) {
  for (std::uint32_t slot = slots.first; slot < slots.first + slots.count; ++slot)
    memory_.hubs.update(state_.incidence(), store_.messages(), slot);
}

}  // namespace dma
