// Frozen variables: State::freeze, and sweeps around them.
#include <algorithm>
#include <array>

#include "engine/run/executor.h"
#include "engine/run/messages_at.h"
#include "engine/run/state_data.h"
#include "engine/support/error.h"

namespace dma {

void State::freeze(VariableId variable) {
  const auto& v = plan_->variable(variable);
  if (plan_->solver != nullptr)
    fail(
        "variable '{}' cannot be frozen: {} solves for all unknowns together and sends it no messages; compile with a "
        "schedule, such as flooding()",
        v.name, plan_->schedule.name);
  if (v.observed) fail("variable '{}' is observed: its value stays until another one is given", v.name);
  if (v.eliminated) fail("variable '{}' was fused away; compile with {{.fuse = false}} to freeze it", v.name);
  for (const auto& end : v.ends)
    if (plan_->groups[end.group].ports[end.port].elements.is_given)
      fail("variable '{}' cannot be frozen: which factors reach it is data (State::set_table)", v.name);
  if (is_frozen(variable)) return;
  Executor(*this).refresh_constants();
  data_->frozen.variables.push_back({variable.value});
  data_->keep_frozen();
  ended_.reset();
}

void State::thaw(VariableId variable) {
  if (!is_frozen(variable)) fail("variable '{}' is not frozen", plan_->variable(variable).name);
  std::erase(data_->frozen.variables, variable);
  data_->keep_frozen();
  data_->sweeping->constants_are_stale = true;  // a parameter may have changed meanwhile
  ended_.reset();
}

bool State::is_frozen(VariableId variable) const {
  (void)plan_->variable(variable);
  return std::ranges::find(data_->frozen.variables, variable) != data_->frozen.variables.end();
}

// Keeps a copy of the current messages to frozen variables.
void StateData::keep_frozen() {
  frozen.kept.clear();
  frozen.is_frozen.assign(frozen.any() ? plan->slots : 0, 0);
  for (const VariableId id : frozen.variables)
    for_each_message(*plan, incidence(), plan->variables[id.value], [&](std::uint32_t, std::uint32_t slot) {
      frozen.is_frozen[slot] = 1;
      frozen.kept.push_back({slot, message(slot)});
    });
  std::size_t most = 0;
  for (const Group& group : plan->groups)
    for (const Group::Port& port : group.ports) most = std::max(most, std::size_t{group.slots} * port.terms);
  frozen.before.resize(frozen.any() ? 2 * most : 0);  // some kernels send to two ports
  frozen.after.resize(frozen.any() ? most : 0);
}

void StateData::restore_frozen() {
  for (const auto& [slot, message] : frozen.kept) store.messages().set(slot, message);
}

// Sends `count` messages from `first` on to each of the operation's ports. Those to frozen variables are computed too,
// and restored before anything reads them. The change of the others follows the rules of their family.
template <class Compute>
void Executor::send_around_frozen(const BoundSend& op, std::ptrdiff_t first, std::size_t count, const Compute& compute,
                                  Total& total) {
  FrozenMessages& frozen = state_.frozen;
  const std::array sinks{&op.call.sink, &op.call.second_sink};
  const auto first_slot = [&](const Sink& sink) {
    return static_cast<std::size_t>(sink.tau - store_.tau.data() + first);
  };
  std::size_t in_all = 0, held = 0;
  for (const Sink* const sink : sinks)
    for (std::size_t i = 0; sink->tau != nullptr && i < count; ++i) {
      frozen.before[in_all++] = state_.message(first_slot(*sink) + i);
      held += frozen.is_frozen[first_slot(*sink) + i];
    }
  if (held == in_all) return;
  Outcome outcome;
  compute(outcome);
  total.messages += in_all - held;
  if (held > 0) outcome.change = 0;
  const Natural* before = frozen.before.data();
  for (const Sink* const sink : sinks) {
    if (held == 0 || sink->tau == nullptr) continue;
    const std::size_t slot = first_slot(*sink);
    const Group& group = plan_.groups[op.group];
    const Group::Port& port = group.ports[sink == &op.call.sink ? op.port : port_at(group, slot)];
    const Family family = plan_.variables.at_element(port.elements(0)).family;
    const std::size_t components = family.components();
    for (std::size_t i = 0; i < count; i += components, before += components) {
      const bool is_frozen = frozen.is_frozen[slot + i] != 0;
      for (std::size_t k = 0; k < components; ++k)
        if (is_frozen) store_.messages().set(slot + i + k, before[k]);
        else frozen.after[k] = state_.message(slot + i + k);
      if (is_frozen) continue;
      const Components after(frozen.after.data(), components);
      outcome.change = std::max(outcome.change, family->change({before, components}, after));
    }
  }
  note(op, outcome, total);
}

std::size_t Executor::port_at(const Group& group, std::size_t slot) {
  std::size_t p = 0;
  while (!(slot - group.ports[p].first_slot < std::size_t{group.slots} * group.ports[p].terms)) ++p;
  return p;
}

void Executor::send_around_frozen(const BoundSend& op, Total& total) {
  if (op.chain_kernel == nullptr) {
    const std::size_t count = op.messages / (op.call.second_sink.tau == nullptr ? 1 : 2);
    send_around_frozen(op, 0, count, [&](Outcome& outcome) { compute(op, outcome); }, total);
    if (memory_.hubs.any()) update_hubs(op);
    return;
  }
  for (std::uint64_t step = 0; step < op.segment.count; ++step) send_slot_around_frozen(op, step, total);
}

void Executor::send_around_frozen(const BoundChain& op, Total& total) {
  for (const BoundChain::Segment& segment : op.segments)
    for (std::uint32_t step = 0; step < segment.count; ++step)
      for (std::uint32_t i = 0; i < segment.sends; ++i)
        send_slot_around_frozen(memory_.sends.of_chains()[segment.first_send + i], step, total);
}

// Each slot of a chain may read messages of the one before, so frozen messages are restored after each.
void Executor::send_slot_around_frozen(const BoundSend& op, std::uint64_t step, Total& total) {
  const ChainSegment one = op.segment.part(step, 1);
  const std::ptrdiff_t first = static_cast<std::ptrdiff_t>(one.first) * op.call.out_column;
  if (op.at_hubs) gather_at_hubs(op, one.first);
  send_around_frozen(op, first, op.call.out_terms, [&](Outcome& outcome) { compute(op, one, outcome); }, total);
  if (memory_.hubs.any()) update_hubs(op.call.sink, first, op.call.out_terms);
}

}  // namespace dma
