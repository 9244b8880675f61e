#include "engine/compile/segments.h"

#include <algorithm>
#include <cstdlib>

namespace dma {

namespace {

// True if some variable behind these ports of a factor has the property.
template <class Property>
bool any_variable(const Resolved::Factor& factor, PortSet ports, const Property& property) {
  for (const std::uint32_t p : ports)
    if (std::ranges::any_of(factor.ports[p].variables, property)) return true;
  return false;
}

}  // namespace

PortSet changing(const Group& group, PortSet ports) {
  PortSet all;
  for (const std::uint32_t p : ports)
    if (!is_constant(group.ports[p])) all.add(p);
  return all;
}

PortsRead ports_read(const Draft& draft) {
  PortsRead read{std::vector<PortSet>(draft.plan.groups.size()), std::vector<PortSet>(draft.plan.groups.size())};
  for (const Visit& v : draft.plan.schedule.visits) {
    const std::uint32_t group = draft.places[v.factor].group;
    for (const std::uint32_t p : v.send) {
      const PortSet ports = draft.flow.reads(v.factor, p);
      read.needed[group] |= ports;
      read.kept[group] |= ports - v.refresh;
    }
  }
  return read;
}

SegmentFinder::SegmentFinder(const Draft& draft, const PortsRead& read)
    : draft_(draft), read_(read), written_(draft.graph.variables.size()) {
  const PlanData& plan = draft.plan;
  const auto is_merged = [](const Group& group) { return group.members.size() > 1; };
  const auto is_of_slot = [](const Visit& v) { return v.slot != kAllSlots; };
  if (std::ranges::none_of(plan.groups, is_merged) && std::ranges::none_of(plan.schedule.visits, is_of_slot)) return;
  degree_.resize(plan.elements);
  for (const Group& group : plan.groups)
    for (const Group::Port& port : group.ports)
      for (std::uint32_t q = 0; q < group.slots * port.terms; ++q) ++degree_[port.elements(q)];
  if (std::ranges::all_of(degree_, [](std::uint32_t degree) { return degree <= kManyMessages; })) degree_.clear();
}

bool SegmentFinder::is_chainable(const Visit& v) const {
  const Group& group = draft_.group_of(v);
  const PortSet send = changing(group, v.send);
  if (send.size() != 1) return false;
  const PortSet extra =
      (v.refresh & read_.needed[draft_.places[v.factor].group]) - draft_.flow.reads(v.factor, send.first());
  return group.ports[send.first()].message->chain != nullptr && extra.empty();
}

bool SegmentFinder::reads_hub(const Visit& v) const {
  if (degree_.empty()) return false;
  for (const std::uint32_t p : v.refresh) {
    const Group::Port& port = draft_.group_of(v).ports[p];
    for (std::uint32_t t = 0; t < port.terms; ++t)
      if (degree_[port.elements(slot_of(v) * port.terms + t)] > kManyMessages) return true;
  }
  return false;
}

bool SegmentFinder::reads_what_was_written(const Visit& v) const {
  return any_variable(draft_.graph.factors[v.factor], v.refresh,
                      [&](VariableId u) { return written_[u.value] == segment_; });
}

void SegmentFinder::note_written(const Visit& v) {
  for (const std::uint32_t p : v.send)
    for (const VariableId u : draft_.graph.factors[v.factor].ports[p].variables) written_[u.value] = segment_;
}

Segment SegmentFinder::from(std::size_t visit) {
  const auto& visits = draft_.plan.schedule.visits;
  Segment segment{visit, visit + 1};
  ++segment_;
  if (draft_.group_of(visits[visit]).members.size() == 1 && visits[visit].slot == kAllSlots) return segment;
  note_written(visits[visit]);
  segment.has_hub = reads_hub(visits[visit]);
  const bool chainable = is_chainable(visits[visit]);
  std::int64_t step = 0;
  for (; segment.end < visits.size(); ++segment.end) {
    const Visit &before = visits[segment.end - 1], &v = visits[segment.end];
    if (&draft_.group_of(v) != &draft_.group_of(before) || v.refresh != before.refresh || v.send != before.send) break;
    const std::int64_t apart = std::int64_t{slot_of(v)} - slot_of(before);
    if (step == 0 ? std::abs(apart) != 1 : apart != step) break;
    const bool dependent = reads_what_was_written(v);
    if (dependent && !chainable) break;
    step = apart;
    segment.is_dependent |= dependent;
    segment.has_hub |= reads_hub(v);
    note_written(v);
  }
  return segment;
}

}  // namespace dma
