// A state for a graph that has grown: what the state before knew is kept, by the ids of variables and factors.
#include <algorithm>

#include "engine/run/state.h"
#include "engine/support/error.h"

namespace dma {

State::State(Plan of, const State &before) : State(std::move(of)) {
  const PlanData &now = *plan_, &then = *before.plan_;
  if (mark_ != before.mark_)
    fail("the state to carry over is that of another graph; one of this graph, as it was before it grew, is expected");
  if (now.variables.size() < then.variables.size() || now.memberships.size() < then.memberships.size())
    fail(
        "the state to carry over has {} variables and {} factors, and this plan {} and {}; a graph that has grown is "
        "expected",
        then.variables.size(), then.memberships.size(), now.variables.size(), now.memberships.size());
  const auto take = [&](std::uint32_t from, std::uint32_t to, std::uint32_t count) {
    std::copy_n(before.tau_.begin() + from, count, tau_.begin() + to);
    std::copy_n(before.rho_.begin() + from, count, rho_.begin() + to);
  };
  for (std::uint32_t v = 0; v < then.variables.size(); ++v) {
    const PlanData::Variable old = then.variables[v], same = now.variables[v];
    if (old.observed && same.observed && before.values_[v].given) {
      take(old.first_slot, same.first_slot, old.size);
      if (!values_[v].given) --missing_;
      values_[v].given = true;
      values_[v].has_missing = before.values_[v].has_missing;
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
  for (const VariableId frozen : before.frozen()) freeze(frozen);
}

}  // namespace dma
