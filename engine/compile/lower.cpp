#include "engine/compile/lower.h"

#include <algorithm>

#include "engine/compile/arrivals.h"

namespace dma {

namespace {

// From this degree on, summing all other messages anew for each slot of a run costs more than one pass that forms totals.
constexpr std::size_t kHighDegree = 16;

class Lowering {
 public:
  Lowering(const Flow& flow, const std::vector<Placement>& places, PlanData& plan, std::set<PortKey>& copied,
           const std::map<PortKey, Arrival>& from_last_sweep)
      : flow_(flow), places_(places), plan_(plan), graph_(*plan.graph), arrivals_(plan, copied, from_last_sweep),
        once_(plan.schedule.order == Schedule::Order::once), needed_(plan.groups.size()), kept_(plan.groups.size()) {
    plan_.constants.clear();
    plan_.operations.clear();
    plan_.first_operation.clear();
    plan_.resets.clear();
    plan_.arrival_resets.clear();
    for (const Visit& v : plan.schedule.visits)
      for (std::uint32_t p = 0; p < kMaxPorts; ++p)
        if (v.send & (1u << p)) {
          const std::uint32_t read = flow.reads(v.factor, p);
          needed_[places[v.factor].group] |= read;
          kept_[places[v.factor].group] |= read & ~v.refresh;
        }
    written_.assign(graph_.variables.size(), 0);
  }

  // Returns false if a message was overwritten while an alias of it was still wanted; the port is then in `copied`.
  bool lower_all() {
    emit_constants();
    const auto& visits = plan_.schedule.visits;
    for (std::size_t i = 0; i < visits.size();) {
      plan_.first_operation.push_back(static_cast<std::uint32_t>(plan_.operations.size()));
      const std::size_t end = plan_.schedule.order == Schedule::Order::residual ? i + 1 : end_of_run(i);
      if (is_merged(visits[i])) lower_run(i, end);
      else lower_visit(visits[i]);
      i = end;
    }
    plan_.first_operation.push_back(static_cast<std::uint32_t>(plan_.operations.size()));
    mark_resets();
    return !arrivals_.is_stale();
  }

 private:
  Group& group_of(const Visit& v) { return plan_.groups[places_[v.factor].group]; }
  bool is_merged(const Visit& v) { return group_of(v).members.size() > 1; }

  // --- messages that never change -------------------------------------------------------------------------------------

  static bool is_constant(const Group::Port& port) { return port.message != nullptr && port.message->reads.empty(); }

  void emit_constants() {
    for (std::uint32_t g = 0; g < plan_.groups.size(); ++g)
      for (std::uint32_t p = 0; p < plan_.groups[g].ports.size(); ++p)
        if (is_constant(plan_.groups[g].ports[p])) {
          plan_.constants.push_back(Send{g, p, 0, plan_.groups[g].slots, {}});
          arrivals_.note_sent(g, p);
        }
  }
  std::uint32_t changing(const Visit& v) {
    const Group& group = group_of(v);
    std::uint32_t mask = v.send;
    for (std::uint32_t p = 0; p < group.ports.size(); ++p)
      if (is_constant(group.ports[p])) mask &= ~(1u << p);
    return mask;
  }

  // --- runs of scalar factors -------------------------------------------------------------------------------------------

  // One target whose arguments are gathered slot by slot just before use.
  bool is_chainable(const Visit& v) {
    const std::uint32_t send = changing(v);
    if (__builtin_popcount(send) != 1) return false;
    const auto port = static_cast<std::uint32_t>(__builtin_ctz(send));
    const std::uint32_t extra = v.refresh & needed_[places_[v.factor].group] & ~flow_.reads(v.factor, port);
    return group_of(v).ports[port].message->sequence != nullptr && extra == 0;
  }
  // Whether a visit reads a variable that an earlier visit of the run wrote to.
  bool depends_on_run(const Visit& v, std::uint32_t run) const {
    const auto& factor = graph_.factors[v.factor];
    for (std::uint32_t p = 0; p < factor.ports.size(); ++p)
      if (v.refresh & (1u << p))
        for (const VariableId u : factor.ports[p].variables)
          if (written_[u.value] == run) return true;
    return false;
  }
  void note_written(const Visit& v, std::uint32_t run) {
    const auto& factor = graph_.factors[v.factor];
    for (std::uint32_t p = 0; p < factor.ports.size(); ++p)
      if (v.send & (1u << p))
        for (const VariableId u : factor.ports[p].variables) written_[u.value] = run;
  }

  // The longest run from visit i on: same group, same ports, slots one apart; dependent only if it can be chained.
  std::size_t end_of_run(std::size_t i) {
    const auto& visits = plan_.schedule.visits;
    ++run_;
    run_is_dependent_ = false;
    note_written(visits[i], run_);
    if (!is_merged(visits[i])) return i + 1;
    const bool chainable = is_chainable(visits[i]);
    std::int64_t step = 0;
    std::size_t end = i + 1;
    for (; end < visits.size(); ++end) {
      const Visit &before = visits[end - 1], &v = visits[end];
      if (places_[v.factor].group != places_[before.factor].group || v.refresh != before.refresh || v.send != before.send) break;
      const std::int64_t apart = std::int64_t{places_[v.factor].first_slot} - places_[before.factor].first_slot;
      if (step == 0 ? std::abs(apart) != 1 : apart != step) break;
      const bool dependent = depends_on_run(v, run_);
      if (dependent && !chainable) break;
      step = apart;
      run_is_dependent_ |= dependent;
      note_written(v, run_);
    }
    return end;
  }

  bool has_high_degree(const Visit& v) const {
    const auto& factor = graph_.factors[v.factor];
    for (std::uint32_t p = 0; p < factor.ports.size(); ++p)
      if (v.refresh & (1u << p))
        for (const VariableId u : factor.ports[p].variables)
          if (degree_of(u) > kHighDegree) return true;
    return false;
  }
  std::size_t degree_of(VariableId v) const {
    if (degree_.empty()) {
      degree_.assign(graph_.variables.size(), 0);
      for (const auto& factor : graph_.factors)
        for (const auto& port : factor.ports)
          for (const VariableId u : port.variables) ++degree_[u.value];
    }
    return degree_[v.value];
  }

  // What the message to `port` reads, if for the whole group that is nothing but values of observed variables that stand
  // side by side: a value is a point mass, beside which no other message counts, and need not be gathered. Else empty.
  std::vector<ReadView> observed_values(std::uint32_t g, std::uint32_t port) const {
    const Group& group = plan_.groups[g];
    std::vector<ReadView> views;
    for (const std::size_t r : group.ports[port].message->reads) {
      if (kept_[g] & (1u << r)) return {};
      for (std::uint32_t m = 0; m < group.members.size(); ++m) {
        const auto& read = graph_.factors[group.members[m]].ports[r];
        const auto& variable = plan_.variables[read.variables[0].value];
        if (read.terms != 1 || !variable.observed) return {};
        const std::uint32_t value = variable.first_slot + read.elements(0) - variable.first_element;
        if (m == 0) views.push_back({ReadView::From::messages, value, 0, 1});
        if (value != views.back().first + m) return {};
      }
    }
    return views;
  }

  void lower_run(std::size_t begin, std::size_t end) {
    const Visit& v = plan_.schedule.visits[begin];
    const std::uint32_t g = places_[v.factor].group;
    Group& group = plan_.groups[g];
    const std::uint32_t send = changing(v);
    const std::uint32_t a = places_[v.factor].first_slot;
    const std::uint32_t b = places_[plan_.schedule.visits[end - 1].factor].first_slot;
    const std::uint32_t low = std::min(a, b), count = std::max(a, b) - low + 1;
    const bool chainable = is_chainable(v);
    const auto port = static_cast<std::uint32_t>(chainable ? __builtin_ctz(send) : 0);
    std::vector<ReadView> values;
    if (chainable && count == group.slots) values = observed_values(g, port);
    if (!values.empty()) {
      plan_.operations.push_back(Send{g, port, 0, count, std::move(values)});
    } else if (chainable && (run_is_dependent_ || !has_high_degree(v))) {
      Send op{g, port, a, count, {}};
      op.is_sequence = true;
      op.step = a <= b ? 1 : -1;
      const auto& reads = group.ports[port].message->reads;
      for (std::size_t i = 0; i < reads.size(); ++i) {
        const std::uint32_t bit = 1u << reads[i];
        if (v.refresh & bit) op.refresh |= 1u << i;
        if ((kept_[g] & bit) != 0) {
          op.keep |= 1u << i;
          arrivals_.reserve(g, static_cast<std::uint32_t>(reads[i]));
        }
      }
      plan_.operations.push_back(std::move(op));
      arrivals_.use_incidence();
    } else {
      for (std::uint32_t p = 0; p < group.ports.size(); ++p)
        if (v.refresh & needed_[g] & (1u << p)) arrivals_.gather(g, p, low, count);
      for (std::uint32_t p = 0; p < group.ports.size(); ++p)
        if (send & (1u << p)) {
          Send op{g, p, low, count, {}};
          for (const std::size_t r : group.ports[p].message->reads)
            op.reads.push_back(arrivals_.gathered(g, static_cast<std::uint32_t>(r)));
          plan_.operations.push_back(std::move(op));
        }
    }
    for (std::uint32_t p = 0; p < group.ports.size(); ++p)
      if (send & (1u << p)) arrivals_.note_sent(g, p);
  }

  // --- one factor, plate or scalar --------------------------------------------------------------------------------------

  void lower_visit(const Visit& v) {
    const std::uint32_t g = places_[v.factor].group;
    Group& group = plan_.groups[g];
    for (std::uint32_t p = 0; p < group.ports.size(); ++p)
      if (v.refresh & needed_[g] & (1u << p)) arrivals_.refresh(v.factor, g, p);
    const std::uint32_t send = changing(v);
    std::uint32_t done = 0;
    for (std::uint32_t p = 0; p < group.ports.size(); ++p) {
      if (!(send & (1u << p)) || (done & (1u << p))) continue;
      Send op{g, p, 0, group.slots, {}};
      for (const std::size_t r : group.ports[p].message->reads)
        op.reads.push_back(arrivals_.view(g, static_cast<std::uint32_t>(r)));
      for (std::uint32_t q = p + 1; q < group.ports.size() && op.joint == nullptr; ++q)
        if (send & (1u << q)) {
          op.joint = group.kind->find_joint(*group.ports[p].message, *group.ports[q].message);
          if (op.joint != nullptr) done |= 1u << q, arrivals_.note_sent(g, q);
        }
      plan_.operations.push_back(std::move(op));
      arrivals_.note_sent(g, p);
    }
  }

  // --- what a run must start from ----------------------------------------------------------------------------------------

  void mark_resets() {
    // Iterations, and merged factors, may read an arrival before they refresh it.
    if (!once_) plan_.arrival_resets = {{0, plan_.arrivals}};
    for (std::uint32_t g = 0; g < plan_.groups.size() && once_; ++g)
      for (std::uint32_t p = 0; p < plan_.groups[g].ports.size(); ++p) {
        const auto& port = plan_.groups[g].ports[p];
        if (plan_.groups[g].members.size() > 1 && (kept_[g] & (1u << p)) && port.first_arrival != kNowhere)
          plan_.arrival_resets.push_back({port.first_arrival, plan_.groups[g].slots * port.terms});
      }
    // Sweeps that look messages up by element see those not sent yet; other single sweeps never read them.
    if (once_ && !arrivals_.uses_incidence()) return;
    for (const Group& group : plan_.groups)
      for (const auto& port : group.ports)
        if (port.message != nullptr && !is_constant(port))
          plan_.resets.push_back({port.first_slot, group.slots * port.terms});
  }

 public:
  const ArrivalPlanner& arrivals() const { return arrivals_; }

 private:
  const Flow& flow_;
  const std::vector<Placement>& places_;
  PlanData& plan_;
  const Resolved& graph_;
  ArrivalPlanner arrivals_;
  const bool once_;
  std::vector<std::uint32_t> needed_;                // group -> ports any message reads
  std::vector<std::uint32_t> kept_;                  // group -> ports read by a visit that does not refresh them
  std::vector<std::uint32_t> written_;               // variable -> last run that wrote to it
  mutable std::vector<std::uint32_t> degree_;        // variable -> ends
  std::uint32_t run_ = 0;
  bool run_is_dependent_ = false;
};

}  // namespace

void lower(const Flow& flow, const std::vector<Placement>& places, PlanData& plan) {
  std::set<PortKey> copied;
  std::map<PortKey, Arrival> from_last_sweep;
  for (;;) {
    Lowering lowering(flow, places, plan, copied, from_last_sweep);
    const bool fresh = lowering.lower_all();
    auto left = lowering.arrivals().at_end_of_sweep();
    if (fresh && left == from_last_sweep) {
      if (lowering.arrivals().uses_incidence()) index_incidence(plan);
      if (plan.schedule.order == Schedule::Order::residual) index_visits(plan);
      return;
    }
    from_last_sweep = std::move(left);
  }
}

}  // namespace dma
