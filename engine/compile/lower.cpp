#include "engine/compile/lower.h"

#include <algorithm>

#include "engine/compile/lay_out.h"
#include "engine/compile/segments.h"

namespace dma {

namespace {

// One attempt to turn the visits into operations.
class Lowering {
 public:
  Lowering(Draft& draft, std::set<PortKey>& copied, const std::map<PortKey, ArrivalView>& from_last_sweep)
      : draft_(draft),
        plan_(draft.plan),
        read_(ports_read(draft)),
        segments_(draft, read_),
        arrivals_(draft, copied, from_last_sweep),
        once_(draft.plan.schedule.order == Schedule::Order::once) {
    plan_.constants.clear();
    plan_.operations.clear();
    plan_.first_operation.clear();
    plan_.resets.clear();
    plan_.arrival_resets.clear();
  }

  // Returns false if a message was overwritten before the last use of an alias; the port is then in `copied`.
  bool lower_all() {
    emit_constants();
    const auto& visits = plan_.schedule.visits;
    auto chain = plan_.schedule.chains.begin();
    for (std::size_t i = 0; i < visits.size();) {
      if (chain != plan_.schedule.chains.end() && chain->first == i) {
        plan_.operations.push_back(lower_chain(*chain, arrivals_, draft_));
        i += (chain++)->offsets.size();
        continue;
      }
      plan_.first_operation.push_back(static_cast<std::uint32_t>(plan_.operations.size()));
      const Group& group = draft_.group_of(visits[i]);
      const bool is_merged = visits[i].slot != kAllSlots || group.members.size() > 1;
      Segment segment{i, i + 1};
      if (plan_.schedule.order != Schedule::Order::residual) segment = segments_.from(i);
      else if (is_merged) segment.has_hub = segments_.reads_hub(visits[i]);
      if (is_merged) {
        lower_segment(segment);
      } else {
        Visit visit = visits[i];
        while (segment.end < visits.size() && !(chain != plan_.schedule.chains.end() && chain->first == segment.end) &&
               may_join(visit, visits[segment.end])) {
          visit.refresh |= visits[segment.end].refresh;
          visit.send |= visits[segment.end++].send;
        }
        lower_visit(visit);
      }
      i = segment.end;
    }
    plan_.first_operation.push_back(static_cast<std::uint32_t>(plan_.operations.size()));
    mark_resets();
    return !arrivals_.is_stale();
  }

  const ArrivalPlanner& arrivals() const { return arrivals_; }

 private:
  void emit_constants() {
    for (std::uint32_t g = 0; g < plan_.groups.size(); ++g)
      for (std::uint32_t p = 0; p < plan_.groups[g].ports.size(); ++p)
        if (is_constant(plan_.groups[g].ports[p])) {
          plan_.constants.push_back(Send{g, p, 0, plan_.groups[g].slots, {}});
          arrivals_.note_sent(g, p);
        }
  }

  void lower_segment(const Segment& segment) {
    const Visit& v = plan_.schedule.visits[segment.begin];
    const std::uint32_t g = draft_.places[v.factor].group;
    const Group& group = plan_.groups[g];
    const PortSet send = changing(group, v.send);
    const std::uint32_t a = segments_.slot_of(v), b = segments_.slot_of(plan_.schedule.visits[segment.end - 1]);
    const std::uint32_t low = std::min(a, b), count = std::max(a, b) - low + 1;
    const bool chainable = segments_.is_chainable(v);
    const std::uint32_t port = chainable ? send.first() : 0;
    std::vector<ReadView> values;
    if (chainable && count == group.slots && group.members.size() == count) values = observed_values(g, port);
    if (!values.empty())
      plan_.operations.push_back(Send{g, port, 0, count, std::move(values)});
    else if (chainable && (segment.is_dependent || !segment.has_hub))
      send_as_chain(v, Send{g, port, a, count, {}}, a <= b ? 1 : -1, segment.has_hub);
    else
      gather_and_send(v, g, send, low, count);
    for (const std::uint32_t p : send) arrivals_.note_sent(g, p);
  }

  // The views of the message to `port` if the whole group reads consecutive values of observed variables; otherwise
  // empty. A value is a point mass, so no other message counts and nothing need be gathered.
  std::vector<ReadView> observed_values(std::uint32_t g, std::uint32_t port) const {
    const Group& group = plan_.groups[g];
    std::vector<ReadView> views;
    for (const std::size_t r : group.ports[port].message->reads) {
      if (read_.kept[g].has(r)) return {};
      for (std::uint32_t m = 0; m < group.members.size(); ++m) {
        const auto& read = draft_.graph.factors[group.members[m]].ports[r];
        const auto& variable = plan_.variables[read.variables[0].value];
        if (read.terms != 1 || !variable.cuts) return {};
        const std::uint32_t value = variable.first_slot + read.elements(0) - variable.first_element;
        if (m == 0) views.push_back({ReadView::From::messages, value, 0, 1});
        if (value != views.back().first + m) return {};
      }
    }
    return views;
  }

  // Slot after slot, each gathering its arguments just before use.
  void send_as_chain(const Visit& v, Send op, int step, bool at_hubs) {
    op.is_chain = true;
    op.step = step;
    op.at_hubs = at_hubs;
    for (const std::size_t r : plan_.groups[op.group].ports[op.port].message->reads) {
      // An argument on which the message does not depend may never have been gathered: look it up.
      if (v.refresh.has(r) || !draft_.flow.reads(v.factor, op.port).has(r)) op.refresh.add(r);
      if (read_.kept[op.group].has(r)) op.keep.add(r);
      if (at_hubs || op.keep.has(r)) arrivals_.reserve(op.group, static_cast<std::uint32_t>(r));
    }
    plan_.operations.push_back(std::move(op));
    arrivals_.use_incidence();
  }

  // All slots read before any slot writes.
  void gather_and_send(const Visit& v, std::uint32_t g, PortSet send, std::uint32_t low, std::uint32_t count) {
    const Group& group = plan_.groups[g];
    for (const std::uint32_t p : v.refresh & read_.needed[g]) arrivals_.gather(g, p, low, count);
    for (const std::uint32_t p : send) {
      Send op{g, p, low, count, {}};
      for (const std::size_t r : group.ports[p].message->reads)
        op.reads.push_back(arrivals_.gathered(g, static_cast<std::uint32_t>(r)));
      plan_.operations.push_back(std::move(op));
    }
  }

  // True if two visits of a single sweep can be made as one: one kernel serves both, and the messages of the first do
  // not reach the second.
  bool may_join(const Visit& a, const Visit& b) const {
    if (!once_ || a.factor != b.factor || !(a.send & b.send).empty()) return false;
    const Group& group = draft_.group_of(a);
    const auto& ports = draft_.graph.factors[a.factor].ports;
    bool is_served = false;
    for (const std::uint32_t p : a.send) {
      for (const std::uint32_t q : b.send)
        is_served |= group.kind->find_pair_kernel(*group.ports[std::min(p, q)].message,
                                            *group.ports[std::max(p, q)].message) != nullptr;
      for (const std::uint32_t q : b.refresh) {
        if (p == q && !is_injective(group.ports[q].elements, group.slots * group.ports[q].terms)) return false;
        if (p != q && std::ranges::find_first_of(ports[p].variables, ports[q].variables) != ports[p].variables.end())
          return false;
      }
    }
    return is_served;
  }

  // One factor, plate or scalar.
  void lower_visit(const Visit& v) {
    const std::uint32_t g = draft_.places[v.factor].group;
    const Group& group = plan_.groups[g];
    for (const std::uint32_t p : v.refresh & read_.needed[g]) arrivals_.refresh(v.factor, g, p);
    const PortSet send = changing(group, v.send);
    PortSet done;
    for (const std::uint32_t p : send) {
      if (done.has(p)) continue;
      Send op{g, p, 0, group.slots, {}};
      for (const std::size_t r : group.ports[p].message->reads)
        op.reads.push_back(arrivals_.view(g, static_cast<std::uint32_t>(r)));
      for (const std::uint32_t q : send) {
        if (q <= p || op.pair != nullptr) continue;
        op.pair = group.kind->find_pair_kernel(*group.ports[p].message, *group.ports[q].message);
        if (op.pair != nullptr) done.add(q), arrivals_.note_sent(g, q);
      }
      plan_.operations.push_back(std::move(op));
      arrivals_.note_sent(g, p);
    }
  }

  // Lists the messages and arrivals that are uniform at the start of a run.
  void mark_resets() {
    // Iterations, and merged factors, may read an arrival before they refresh it.
    if (!once_) plan_.arrival_resets = {{0, plan_.arrivals}};
    for (std::uint32_t g = 0; g < plan_.groups.size() && once_; ++g)
      for (std::uint32_t p = 0; p < plan_.groups[g].ports.size(); ++p) {
        const auto& port = plan_.groups[g].ports[p];
        if (plan_.groups[g].members.size() > 1 && read_.kept[g].has(p) && port.first_arrival != kNowhere)
          plan_.arrival_resets.push_back({port.first_arrival, plan_.groups[g].slots * port.terms});
      }
    // Only sweeps that look messages up by element read messages that were not sent yet.
    if (once_ && !arrivals_.uses_incidence()) return;
    for (const Group& group : plan_.groups)
      for (const auto& port : group.ports)
        if (port.message != nullptr && !is_constant(port))
          plan_.resets.push_back({port.first_slot, group.slots * port.terms});
  }

  Draft& draft_;
  PlanData& plan_;
  const PortsRead read_;
  SegmentFinder segments_;
  ArrivalPlanner arrivals_;
  const bool once_;
};

// Marks gathering by few slots at elements with very many messages, for which totals are not worth forming.
void mark_hubs(PlanData& plan) {
  for (Operation& op : plan.operations)
    if (auto* const gather = std::get_if<GatherOthers>(&op)) {
      const Group::Port& port = plan.groups[gather->group].ports[gather->port];
      std::uint32_t most = 0;
      for (std::uint32_t q = gather->first; q < gather->first + gather->count; ++q)
        most = std::max(most, plan.incidence().count_at(plan.element_of_slot[port.first_slot + q]));
      gather->at_hubs = most > kManyMessages && most / 4 > gather->count;
      plan.has_hubs |= gather->at_hubs;
    } else if (const auto* const send = std::get_if<Send>(&op)) {
      plan.has_hubs |= send->at_hubs;
    }
}

bool forms_totals(const PlanData& plan) {
  return std::ranges::any_of(plan.operations,
                             [](const Operation& op) { return std::holds_alternative<GatherOthers>(op); });
}

// Slots of a port without an affine map are found by element only through an index.
bool has_table(const PlanData& plan) {
  return std::ranges::any_of(plan.groups, [](const Group& group) {
    return std::ranges::any_of(group.ports, [](const Group::Port& port) { return !port.elements.is_affine(); });
  });
}

}  // namespace

void lower(Draft& draft) {
  PlanData& plan = draft.plan;
  std::set<PortKey> copied;
  std::map<PortKey, ArrivalView> from_last_sweep;
  for (;;) {
    Lowering lowering(draft, copied, from_last_sweep);
    const bool fresh = lowering.lower_all();
    auto left = lowering.arrivals().at_end_of_sweep();
    if (fresh && left == from_last_sweep) {
      plan.gathers_by_element = lowering.arrivals().uses_incidence();
      if (plan.gathers_by_element || has_table(plan)) index_incidence(plan);
      if (plan.gathers_by_element) mark_hubs(plan);
      if (plan.gathers_by_element && plan.schedule.order == Schedule::Order::once) straighten(plan);
      pair_chains(plan);
      if (plan.schedule.order == Schedule::Order::residual) index_visits(draft);
      plan.forms_totals = forms_totals(plan);
      return;
    }
    from_last_sweep = std::move(left);
  }
}

}  // namespace dma
