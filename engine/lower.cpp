#include "engine/lower.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace dma {

namespace {

// From this degree on, summing all other messages anew for each slot of a run costs more than one pass that forms totals.
constexpr std::size_t kHighDegree = 16;

using PortKey = std::pair<std::uint32_t, std::uint32_t>;  // group, port

// How the arrival on a port is to be had at the moment, and the state of the messages it was taken from.
struct Arrival {
  bool known = false;
  ReadView view;
  std::vector<std::pair<PortKey, std::uint32_t>> aliased;  // messages it points into, with their version
  friend bool operator==(const Arrival&, const Arrival&) = default;
};

class Lowering {
 public:
  Lowering(const Flow& flow, const std::vector<Placement>& places, Plan& plan, std::set<PortKey>& copied,
           const std::map<PortKey, Arrival>& from_last_sweep)
      : flow_(flow), places_(places), plan_(plan), graph_(*plan.graph), copied_(copied),
        once_(plan.schedule.order == Schedule::Order::once) {
    for (const Group& group : plan.groups) {
      version_.emplace_back(group.ports.size(), 0);
      arrival_.emplace_back(group.ports.size());
      needed_.push_back(0);
      kept_.push_back(0);
    }
    plan_.constants.clear();
    plan_.operations.clear();
    plan_.first_operation.clear();
    plan_.resets.clear();
    for (const Visit& v : plan.schedule.visits)
      for (std::uint32_t p = 0; p < kMaxPorts; ++p)
        if (v.send & (1u << p)) {
          const std::uint32_t read = flow.reads(v.factor, p);
          needed_[places[v.factor].group] |= read;
          kept_[places[v.factor].group] |= read & ~v.refresh;
        }
    written_.assign(graph_.variables.size(), 0);
    for (const auto& [port, arrival] : from_last_sweep) arrival_[port.first][port.second] = arrival;
  }

  // Returns false if a message was overwritten while an alias of it was still wanted; the port is then in `copied`.
  bool lower_all() {
    emit_constants();
    const auto& visits = plan_.schedule.visits;
    for (std::size_t i = 0; i < visits.size();) {
      plan_.first_operation.push_back(static_cast<std::uint32_t>(plan_.operations.size()));
      const std::size_t end = plan_.schedule.order == Schedule::Order::residual ? i + 1 : end_of_run(i);
      if (is_strung(visits[i])) lower_run(i, end);
      else lower_visit(visits[i]);
      i = end;
    }
    plan_.first_operation.push_back(static_cast<std::uint32_t>(plan_.operations.size()));
    mark_resets();
    if (plan_.schedule.order == Schedule::Order::residual) index_visits();
    return !stale_;
  }

 private:
  Group& group_of(const Visit& v) { return plan_.groups[places_[v.factor].group]; }
  bool is_strung(const Visit& v) { return group_of(v).members.size() > 1; }

  // --- messages that never change -------------------------------------------------------------------------------------

  static bool is_constant(const Group::Port& port) { return port.message != nullptr && port.message->reads.empty(); }

  void emit_constants() {
    for (std::uint32_t g = 0; g < plan_.groups.size(); ++g)
      for (std::uint32_t p = 0; p < plan_.groups[g].ports.size(); ++p)
        if (is_constant(plan_.groups[g].ports[p])) {
          plan_.constants.push_back(Send{g, p, 0, plan_.groups[g].slots, {}});
          version_[g][p] = 1;
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
    if (!is_strung(visits[i])) return i + 1;
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

  void lower_run(std::size_t begin, std::size_t end) {
    const Visit& v = plan_.schedule.visits[begin];
    const std::uint32_t g = places_[v.factor].group;
    Group& group = plan_.groups[g];
    const std::uint32_t send = changing(v);
    const std::uint32_t a = places_[v.factor].first_slot;
    const std::uint32_t b = places_[plan_.schedule.visits[end - 1].factor].first_slot;
    const std::uint32_t low = std::min(a, b), count = std::max(a, b) - low + 1;
    if (is_chainable(v) && (run_is_dependent_ || !has_high_degree(v))) {
      const auto port = static_cast<std::uint32_t>(__builtin_ctz(send));
      Send op{g, port, a, count, {}};
      op.is_sequence = true;
      op.step = a <= b ? 1 : -1;
      const auto& reads = group.ports[port].message->reads;
      for (std::size_t i = 0; i < reads.size(); ++i) {
        const std::uint32_t bit = 1u << reads[i];
        if (v.refresh & bit) op.refresh |= 1u << i;
        if ((kept_[g] & bit) != 0) {
          op.keep |= 1u << i;
          reserve_arrivals(g, static_cast<std::uint32_t>(reads[i]), group.slots * group.ports[reads[i]].terms);
        }
      }
      plan_.operations.push_back(std::move(op));
      uses_incidence_ = true;
    } else {
      for (std::uint32_t p = 0; p < group.ports.size(); ++p)
        if (v.refresh & needed_[g] & (1u << p)) leave_one_out(g, p, low, count);
      for (std::uint32_t p = 0; p < group.ports.size(); ++p)
        if (send & (1u << p)) {
          Send op{g, p, low, count, {}};
          for (const std::size_t r : group.ports[p].message->reads) {
            reserve_arrivals(g, static_cast<std::uint32_t>(r), group.slots * group.ports[r].terms);
            op.reads.push_back(whole_port(ReadView::From::arrivals, group.ports[r].first_arrival, group, group.ports[r]));
          }
          plan_.operations.push_back(std::move(op));
        }
    }
    for (std::uint32_t p = 0; p < group.ports.size(); ++p)
      if (send & (1u << p)) ++version_[g][p];
  }

  // --- one factor, plate or scalar --------------------------------------------------------------------------------------

  void lower_visit(const Visit& v) {
    const std::uint32_t g = places_[v.factor].group;
    Group& group = plan_.groups[g];
    for (std::uint32_t p = 0; p < group.ports.size(); ++p)
      if (v.refresh & needed_[g] & (1u << p)) arrival_[g][p] = refresh(v.factor, g, p);
    const std::uint32_t send = changing(v);
    std::uint32_t done = 0;
    for (std::uint32_t p = 0; p < group.ports.size(); ++p) {
      if (!(send & (1u << p)) || (done & (1u << p))) continue;
      Send op{g, p, 0, group.slots, {}};
      for (const std::size_t r : group.ports[p].message->reads) op.reads.push_back(current_view(g, static_cast<std::uint32_t>(r)));
      for (std::uint32_t q = p + 1; q < group.ports.size() && op.joint == nullptr; ++q)
        if (send & (1u << q)) {
          op.joint = group.kind->find_joint(*group.ports[p].message, *group.ports[q].message);
          if (op.joint != nullptr) done |= 1u << q, ++version_[g][q];
        }
      plan_.operations.push_back(std::move(op));
      ++version_[g][p];
    }
  }

  // What a message function sees on a port now; an alias that no longer shows what it did must become a copy.
  ReadView current_view(std::uint32_t g, std::uint32_t p) {
    Arrival& arrival = arrival_[g][p];
    if (!arrival.known) {
      if (once_) return {};  // never refreshed in this sweep: nothing has arrived
      // What the sweep before refreshed, if any visit ever does.
      stale_ |= copied_.insert({g, p}).second;
      return {};
    }
    for (const auto& [source, version] : arrival.aliased)
      if (version_[source.first][source.second] != version) stale_ |= copied_.insert({g, p}).second;
    return arrival.view;
  }

  std::uint32_t reserve_arrivals(std::uint32_t g, std::uint32_t p, std::uint32_t count) {
    auto& first = plan_.groups[g].ports[p].first_arrival;
    if (first == kNowhere) {
      first = plan_.arrivals;
      plan_.arrivals += count;
    }
    return first;
  }

  static ReadView whole_port(ReadView::From from, std::uint32_t first, const Group& group, const Group::Port& port) {
    return {from, first, group.columns * port.terms, port.terms};
  }

  // Strides that walk the elements of one variable as the port's slots do, if there are any.
  static std::optional<ReadView> strides(const Group& group, const Group::Port& port) {
    const IndexMap& map = port.elements;
    if (!map.is_affine()) return {};
    ReadView view;
    if (map.is_identical()) return whole_port(ReadView::From::messages, 0, group, port);
    if (map.modulus == 1) return port.terms == 1 ? std::optional(view) : std::nullopt;
    if (map.divisor == 1 && map.modulus == port.terms) return view;  // every slot reads the same terms
    if (port.terms != 1) return {};
    if (map.divisor == 1 && map.modulus == group.columns) return view.column = 1, view;
    if (map.divisor == group.columns && map.modulus == IndexMap::kWhole) return view.row = 1, view;
    return {};
  }

  struct Sources {
    std::vector<Combine::Source> list;
    std::vector<std::pair<PortKey, std::uint32_t>> versions;
    bool usable = true;
  };

  // The messages that make up the arrival on a port of an unmerged factor from its one variable.
  Sources sources_of(std::uint32_t g, std::uint32_t p, const Plan::Variable& variable) {
    Sources sources;
    if (variable.first_slot != kNowhere) sources.list.push_back({variable.first_slot, variable.size, {}});
    if (variable.observed) return sources;
    for (const auto& end : variable.ends) {
      const Group& other = plan_.groups[end.group];
      const auto& port = other.ports[end.port];
      if (port.message == nullptr || (once_ && version_[end.group][end.port] == 0)) continue;  // uniform
      const std::uint32_t slots = other.slots * port.terms;
      if (end.group == g && end.port == p) {
        if (is_injective(port.elements, slots)) continue;  // its own message
        sources.usable = false;
      }
      if (other.members.size() > 1) sources.usable = false;  // reaches other variables too
      IndexMap elements = port.elements;
      if (elements.is_affine()) elements.base -= variable.first_element;
      else for (auto& e : elements.table) e -= variable.first_element;
      if (graph_.factors[other.members[0]].ports[end.port].variables.size() > 1) sources.usable = false;
      sources.list.push_back({port.first_slot, slots, std::move(elements)});
      sources.versions.push_back({{end.group, end.port}, version_[end.group][end.port]});
    }
    return sources;
  }

  Arrival refresh(std::uint32_t f, std::uint32_t g, std::uint32_t p) {
    Group& group = plan_.groups[g];
    Group::Port& port = group.ports[p];
    const auto& variables = graph_.factors[f].ports[p].variables;
    const auto view = strides(group, port);
    if (variables.size() == 1 && view) {
      const Plan::Variable& variable = plan_.variables[variables[0].value];
      Sources sources = sources_of(g, p, variable);
      if (sources.usable) return from_sources(g, p, variable, std::move(sources), *view);
    }
    leave_one_out(g, p, 0, group.slots);
    return {true, whole_port(ReadView::From::arrivals, port.first_arrival, group, port), {}};
  }

  Arrival from_sources(std::uint32_t g, std::uint32_t p, const Plan::Variable& variable, Sources sources, ReadView view) {
    auto& list = sources.list;
    const std::uint32_t offset = plan_.groups[g].ports[p].elements.base - variable.first_element;
    if (!copied_.contains({g, p})) {
      if (list.empty()) return {true, {}, {}};
      const bool aligned = list[0].elements.is_identical() && list[0].elements.base == 0 && list[0].slots == variable.size;
      if (list.size() == 1 && aligned) {
        view.from = ReadView::From::messages;
        view.first = list[0].first_slot + offset;
        return {true, view, std::move(sources.versions)};
      }
    }
    view.from = ReadView::From::arrivals;
    const std::uint32_t first = reserve_arrivals(g, p, variable.size);
    view.first = first + offset;
    plan_.operations.push_back(Combine{first, variable.first_element, variable.size, std::move(list)});
    return {true, view, {}};
  }

  void leave_one_out(std::uint32_t g, std::uint32_t p, std::uint32_t first, std::uint32_t count) {
    const Group::Port& port = plan_.groups[g].ports[p];
    reserve_arrivals(g, p, plan_.groups[g].slots * port.terms);
    plan_.operations.push_back(GatherOthers{g, p, first * port.terms, count * port.terms});
    uses_incidence_ = true;
  }

  // --- who is to be told of a change -------------------------------------------------------------------------------------

  void index_visits() {
    plan_.first_send.clear();
    std::uint32_t sends = 0;
    std::size_t next = 0;
    for (const std::uint32_t first : plan_.first_operation) {
      for (; next < first; ++next) sends += std::holds_alternative<Send>(plan_.operations[next]);
      plan_.first_send.push_back(sends);
    }
    plan_.visits_at.assign(graph_.variables.size(), {});
    for (std::uint32_t i = 0; i < plan_.schedule.visits.size(); ++i) {
      const Visit& v = plan_.schedule.visits[i];
      for (std::size_t p = 0; p < graph_.factors[v.factor].ports.size(); ++p)
        if (v.refresh & (1u << p))
          for (const VariableId u : graph_.factors[v.factor].ports[p].variables) plan_.visits_at[u.value].push_back(i);
    }
  }

  // --- what a run must start from ----------------------------------------------------------------------------------------

  void mark_resets() {
    // Sweeps that look messages up by element see those not sent yet; other single sweeps never read them.
    if (once_ && !uses_incidence_) return;
    for (std::uint32_t g = 0; g < plan_.groups.size(); ++g)
      for (const auto& port : plan_.groups[g].ports)
        if (port.message != nullptr && !is_constant(port))
          plan_.resets.push_back({port.first_slot, plan_.groups[g].slots * port.terms});
  }

 public:
  bool uses_incidence() const { return uses_incidence_; }
  // Arrivals in memory of their own at the end of a sweep: what the next sweep finds before it refreshes them.
  std::map<PortKey, Arrival> at_end_of_sweep() const {
    std::map<PortKey, Arrival> left;
    for (const PortKey& port : copied_) {
      const Arrival& arrival = arrival_[port.first][port.second];
      if (!once_ && arrival.known && arrival.view.from == ReadView::From::arrivals) left[port] = arrival;
    }
    return left;
  }

 private:
  const Flow& flow_;
  const std::vector<Placement>& places_;
  Plan& plan_;
  const Resolved& graph_;
  std::set<PortKey>& copied_;
  const bool once_;
  std::vector<std::vector<std::uint32_t>> version_;  // group, port -> times sent so far
  std::vector<std::vector<Arrival>> arrival_;        // group, port
  std::vector<std::uint32_t> needed_;                // group -> ports any message reads
  std::vector<std::uint32_t> kept_;                  // group -> ports read by a visit that does not refresh them
  std::vector<std::uint32_t> written_;               // variable -> last run that wrote to it
  mutable std::vector<std::uint32_t> degree_;        // variable -> ends
  std::uint32_t run_ = 0;
  bool run_is_dependent_ = false, stale_ = false, uses_incidence_ = false;
};

}  // namespace

void lower(const Flow& flow, const std::vector<Placement>& places, Plan& plan) {
  std::set<PortKey> copied;
  std::map<PortKey, Arrival> from_last_sweep;
  for (;;) {
    Lowering lowering(flow, places, plan, copied, from_last_sweep);
    const bool fresh = lowering.lower_all();
    auto left = lowering.at_end_of_sweep();
    if (fresh && left == from_last_sweep) {
      if (lowering.uses_incidence()) index_incidence(plan);
      return;
    }
    from_last_sweep = std::move(left);
  }
}

}  // namespace dma
