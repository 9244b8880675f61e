#include "engine/compile/stretches.h"

#include <algorithm>
#include <cstdlib>

namespace dma {

namespace {

// Whether a variable behind one of these ports of a factor has the property.
template <class Property>
bool any_variable(const Resolved::Factor& factor, std::uint32_t ports, const Property& property) {
  for (std::uint32_t p = 0; p < factor.ports.size(); ++p)
    if ((ports & (1u << p)) != 0 && std::ranges::any_of(factor.ports[p].variables, property)) return true;
  return false;
}

}  // namespace

std::uint32_t changing(const Group& group, std::uint32_t ports) {
  for (std::uint32_t p = 0; p < group.ports.size(); ++p)
    if (is_constant(group.ports[p])) ports &= ~(1u << p);
  return ports;
}

PortsRead ports_read(const Flow& flow, const std::vector<GroupSlot>& group_slots, const PlanData& plan) {
  PortsRead read{std::vector<std::uint32_t>(plan.groups.size()), std::vector<std::uint32_t>(plan.groups.size())};
  for (const Visit& v : plan.schedule.visits)
    for (std::uint32_t p = 0; p < kMaxPorts; ++p)
      if (v.send & (1u << p)) {
        const std::uint32_t ports = flow.reads(v.factor, p);
        read.needed[group_slots[v.factor].group] |= ports;
        read.kept[group_slots[v.factor].group] |= ports & ~v.refresh;
      }
  return read;
}

StretchFinder::StretchFinder(const Flow& flow, const std::vector<GroupSlot>& group_slots, const PlanData& plan,
                             const PortsRead& read)
    : flow_(flow), group_slots_(group_slots), plan_(plan), read_(read), written_(plan.graph->variables.size()) {
  const auto is_merged = [](const Group& group) { return group.members.size() > 1; };
  const auto is_of_slot = [](const Visit& v) { return v.slot != kAllSlots; };
  if (std::ranges::none_of(plan.groups, is_merged) && std::ranges::none_of(plan.schedule.visits, is_of_slot)) return;
  degree_.resize(plan.elements);
  for (const Group& group : plan.groups)
    for (const Group::Port& port : group.ports)
      for (std::uint32_t q = 0; q < group.slots * port.terms; ++q) ++degree_[port.elements(q)];
}

bool StretchFinder::is_chainable(const Visit& v) const {
  const Group& group = group_of(v);
  const std::uint32_t send = changing(group, v.send);
  if (__builtin_popcount(send) != 1) return false;
  const auto port = static_cast<std::uint32_t>(__builtin_ctz(send));
  const std::uint32_t extra = v.refresh & read_.needed[group_slots_[v.factor].group] & ~flow_.reads(v.factor, port);
  return group.ports[port].message->sequence != nullptr && extra == 0;
}

bool StretchFinder::reads_hub(const Visit& v) const {
  const Group& group = group_of(v);
  for (std::uint32_t p = 0; p < group.ports.size(); ++p)
    for (std::uint32_t t = 0; (v.refresh & (1u << p)) != 0 && t < group.ports[p].terms; ++t)
      if (degree_[group.ports[p].elements(slot_of(v) * group.ports[p].terms + t)] > kManyMessages) return true;
  return false;
}

bool StretchFinder::reads_what_was_written(const Visit& v) const {
  return any_variable(plan_.graph->factors[v.factor], v.refresh,
                      [&](VariableId u) { return written_[u.value] == stretch_; });
}

void StretchFinder::note_written(const Visit& v) {
  const auto& factor = plan_.graph->factors[v.factor];
  for (std::uint32_t p = 0; p < factor.ports.size(); ++p)
    if (v.send & (1u << p))
      for (const VariableId u : factor.ports[p].variables) written_[u.value] = stretch_;
}

Stretch StretchFinder::from(std::size_t visit) {
  const auto& visits = plan_.schedule.visits;
  Stretch stretch{visit, visit + 1};
  ++stretch_;
  if (group_of(visits[visit]).members.size() == 1 && visits[visit].slot == kAllSlots) return stretch;
  note_written(visits[visit]);
  stretch.has_hub = reads_hub(visits[visit]);
  const bool chainable = is_chainable(visits[visit]);
  std::int64_t step = 0;
  for (; stretch.end < visits.size(); ++stretch.end) {
    const Visit &before = visits[stretch.end - 1], &v = visits[stretch.end];
    if (&group_of(v) != &group_of(before) || v.refresh != before.refresh || v.send != before.send) break;
    const std::int64_t apart = std::int64_t{slot_of(v)} - slot_of(before);
    if (step == 0 ? std::abs(apart) != 1 : apart != step) break;
    const bool dependent = reads_what_was_written(v);
    if (dependent && !chainable) break;
    step = apart;
    stretch.is_dependent |= dependent;
    stretch.has_hub |= reads_hub(v);
    note_written(v);
  }
  return stretch;
}

}  // namespace dma
