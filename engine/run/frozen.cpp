// Frozen variables. Messages to them are computed as all others are, but on numbers that only their own operation sees:
// everything else reads the messages that were there when the variable was frozen.
#include <algorithm>
#include <utility>

#include "engine/run/executor.h"
#include "engine/run/messages_at.h"
#include "engine/run/state_data.h"
#include "engine/support/text.h"

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
  data_->list_frozen();
  ended_.reset();
}

void State::thaw(VariableId variable) {
  if (!is_frozen(variable)) fail("variable '{}' is not frozen", plan_->variable(variable).name);
  std::erase(data_->frozen.variables, variable);
  data_->list_frozen();
  data_->sweeping->constants_are_stale = true;  // a parameter may have changed meanwhile
  ended_.reset();
}

bool State::is_frozen(VariableId variable) const {
  (void)plan_->variable(variable);
  return std::ranges::find(data_->frozen.variables, variable) != data_->frozen.variables.end();
}

void StateData::list_frozen() {
  frozen.messages.clear();
  for (const VariableId id : frozen.variables)
    for_each_message(*plan, incidence(), plan->variables[id.value], [&](std::uint32_t, std::uint32_t slot) {
      frozen.messages.push_back({slot, message(slot)});
    });
  std::ranges::sort(frozen.messages, {}, &FrozenMessages::Masked::slot);
}

void StateData::swap_frozen(const SlotRange& slots) {
  auto masked = std::ranges::lower_bound(frozen.messages, slots.first, {}, &FrozenMessages::Masked::slot);
  for (; masked != frozen.messages.end() && masked->slot - slots.first < slots.count; ++masked) {
    const Natural shown = std::exchange(masked->other, message(masked->slot));
    store.messages().set(masked->slot, shown);
  }
}

}  // namespace dma
