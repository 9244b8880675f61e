#include "engine/compile/check_schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "engine/support/text.h"

namespace dma {

namespace {

using Order = Schedule::Order;

void check(const std::string& name, const Iteration& iteration) {
  if (!(iteration.damping >= 0 && iteration.damping < 1))
    fail("schedule '{}': damping is {}; it must be in [0, 1)", name, iteration.damping);
  if (!(iteration.tolerance >= 0))
    fail("schedule '{}': tolerance is {}; it must be 0 or more", name, iteration.tolerance);
  if (iteration.limit < 1) fail("schedule '{}': the limit is {} sweeps; at least 1 is expected", name, iteration.limit);
}

std::string known_ports(const Kind& kind) {
  std::vector<std::string> names;
  for (std::size_t p = 0; p < kind.ports().size(); ++p) names.push_back(fmt::format("{} {}", p, kind.ports()[p].name));
  return joined(names);
}

// "factor 'sum1' (sum)", or of one slot: "slot 2 of factor 'sum1' (sum)".
std::string text_of(const Flow& flow, std::uint32_t factor, std::uint32_t slot) {
  return fmt::format("{}factor '{}' ({})", slot == kAllSlots ? "" : fmt::format("slot {} of ", slot), flow.name(factor),
                     flow.kind(factor).name());
}

void check_visits(const Resolved& graph, const Flow& flow, Schedule& schedule) {
  for (std::size_t i = 0; i < schedule.visits.size(); ++i) {
    Visit& visit = schedule.visits[i];
    if (visit.factor >= flow.factors())
      fail("schedule '{}': visit {} is to factor {}, but the graph has {} factors, numbered from 0", schedule.name, i,
           visit.factor, flow.factors());
    const Kind& kind = flow.kind(visit.factor);
    for (const std::uint32_t p : visit.refresh | visit.send)
      if (p >= kind.ports().size())
        fail("schedule '{}': visit {} to {} names port {}, but its ports are {}", schedule.name, i,
             text_of(flow, visit.factor, kAllSlots), p, known_ports(kind));
    const std::uint32_t slots = graph.factors[visit.factor].slots;
    if (visit.slot != kAllSlots && visit.slot >= slots)
      fail("schedule '{}': visit {} is to {}, which has {} slots, numbered from 0", schedule.name, i,
           text_of(flow, visit.factor, visit.slot), slots);
    visit.send = visit.send & flow.targets(visit.factor);
  }
}

void check_chains(const Flow& flow, const Schedule& schedule) {
  std::size_t end = 0;  // end of the chain before
  for (std::size_t c = 0; c < schedule.chains.size(); ++c) {
    const Chained& chain = schedule.chains[c];
    if (chain.offsets.empty() || chain.first < end || chain.first > schedule.visits.size() ||
        chain.offsets.size() > schedule.visits.size() - chain.first)
      fail(
          "schedule '{}': chain {} takes {} visits from visit {}, but there are {} visits and the chain before ends "
          "at {}; chains stand in the order of their visits and do not overlap",
          schedule.name, c, chain.offsets.size(), chain.first, schedule.visits.size(), end);
    if (chain.step != 1 && chain.step != -1)
      fail("schedule '{}': chain {} has step {}; 1 or -1 is expected", schedule.name, c, chain.step);
    end = chain.first + chain.offsets.size();
    for (std::size_t i = chain.first; i < end; ++i) {
      const Visit& visit = schedule.visits[i];
      if (visit.send.size() != 1 || visit.slot != kAllSlots)
        fail(
            "schedule '{}': visit {} to {} is part of a chain; it must send to one port that wants a message, for all "
            "slots",
            schedule.name, i, text_of(flow, visit.factor, visit.slot));
    }
  }
}

// For each slot of each factor, the ports that visits refreshed and sent to so far.
class Done {
 public:
  explicit Done(const Resolved& graph) : graph_(graph), whole_(graph.factors.size()), first_(graph.factors.size()) {}

  void add(const Visit& visit, PortSet ports) {
    if (visit.slot == kAllSlots) {
      whole_[visit.factor] |= ports;
      return;
    }
    std::size_t& first = first_[visit.factor];
    if (first == 0) {
      first = by_slot_.size() + 1;
      by_slot_.resize(by_slot_.size() + graph_.factors[visit.factor].slots);
    }
    by_slot_[first - 1 + visit.slot] |= ports;
  }
  PortSet at(std::uint32_t factor, std::uint32_t slot) const {
    if (slot != kAllSlots) return whole_[factor] | of_slot(factor, slot);
    PortSet common = of_slot(factor, 0);
    for (std::uint32_t s = 1; s < graph_.factors[factor].slots && !common.empty(); ++s)
      common = common & of_slot(factor, s);
    return whole_[factor] | common;
  }
  // The first slot without the port; kAllSlots: the factor was never visited slot by slot.
  std::uint32_t first_without(std::uint32_t factor, std::size_t port) const {
    if (first_[factor] == 0) return kAllSlots;
    std::uint32_t slot = 0;
    while (of_slot(factor, slot).has(port)) ++slot;
    return slot;
  }

 private:
  PortSet of_slot(std::uint32_t factor, std::uint32_t slot) const {
    return first_[factor] == 0 ? PortSet() : by_slot_[first_[factor] - 1 + slot];
  }
  const Resolved& graph_;
  std::vector<PortSet> whole_;
  std::vector<std::size_t> first_;  // factor -> its first entry in the next, plus 1; 0: it was never visited by slot
  std::vector<PortSet> by_slot_;
};

// By factor: true if some visits are to all its slots and some to one. The two kinds of visits store arrivals at
// different places.
std::vector<bool> visited_both_ways(const Flow& flow, const Schedule& schedule) {
  std::vector<bool> whole(flow.factors()), by_slot(flow.factors());
  for (const Visit& visit : schedule.visits) (visit.slot == kAllSlots ? whole : by_slot)[visit.factor] = true;
  for (std::size_t f = 0; f < flow.factors(); ++f) whole[f] = whole[f] && by_slot[f];
  return whole;
}

constexpr std::string_view kSayWhy = "or say in Schedule::approximate why the answer may be without it";

bool is_constant(const Resolved::Port& port) { return port.message->reads.empty(); }

// Visits of a chain refresh all ports that they read.
template <class Visits>
void for_each_visit(const Flow& flow, const Schedule& schedule, const Visits& visits) {
  auto chain = schedule.chains.begin();
  for (std::size_t i = 0; i < schedule.visits.size(); ++i) {
    if (chain != schedule.chains.end() && i >= chain->first + chain->offsets.size()) ++chain;
    Visit visit = schedule.visits[i];
    if (chain != schedule.chains.end() && i >= chain->first) visit.refresh |= flow.reads(visit.factor);
    visits(visit, i);
  }
}

void check_sends(const Resolved& graph, const Flow& flow, const Schedule& schedule) {
  Done refreshed(graph), sent(graph);
  const std::vector<bool> is_alone = visited_both_ways(flow, schedule);
  for_each_visit(flow, schedule, [&](const Visit& visit, std::size_t i) {
    refreshed.add(visit, visit.refresh);
    sent.add(visit, visit.send);
    const bool refreshes_all = schedule.order == Order::residual || is_alone[visit.factor];
    const PortSet known = refreshes_all ? visit.refresh : refreshed.at(visit.factor, visit.slot);
    for (const std::uint32_t p : visit.send)
      for (const std::uint32_t missing : flow.reads(visit.factor, p) - known)
        if (missing != p || refreshes_all)
          fail(
              "schedule '{}': visit {} to {} sends to port '{}' a message that reads port '{}', which {}; refresh it "
              "there, {}",
              schedule.name, i, text_of(flow, visit.factor, visit.slot), flow.port_name(visit.factor, p),
              flow.port_name(visit.factor, missing),
              refreshes_all ? "this visit does not refresh" : "no visit before it refreshes", kSayWhy);
  });
  for (std::uint32_t f = 0; f < flow.factors(); ++f) {
    const PortSet is_sent = sent.at(f, kAllSlots), is_refreshed = refreshed.at(f, kAllSlots);
    for (const std::uint32_t p : flow.targets(f)) {
      if (is_constant(graph.factors[f].ports[p])) continue;
      if (!is_sent.has(p))
        fail("schedule '{}': no visit sends the message of {} to its port '{}'; add one, {}", schedule.name,
             text_of(flow, f, sent.first_without(f, p)), flow.port_name(f, p), kSayWhy);
      if (flow.reads(f, p).has(p) && !is_refreshed.has(p))
        fail("schedule '{}': no visit to {} refreshes its port '{}', which the message to it reads; add one, {}",
             schedule.name, text_of(flow, f, refreshed.first_without(f, p)), flow.port_name(f, p), kSayWhy);
    }
  }
}

// Simulates the visits of a single sweep, slot by slot and component by component, and marks final messages: those
// computed from arrivals that were refreshed after all their messages were final.
class FinalMessages {
 public:
  FinalMessages(const Resolved& graph, const Flow& flow)
      : graph_(graph), flow_(flow), missing_(graph.elements), is_known_(graph.elements) {
    for (const Resolved::Variable& v : graph.variables)
      for (std::uint32_t e = v.first_element; e < v.first_element + v.size; ++e) is_known_[e] = v.cuts;
    for (std::uint32_t f = 0; f < graph.factors.size(); ++f) {
      first_port_.push_back(first_.size());
      for (const Resolved::Port& port : graph.factors[f].ports) {
        first_.push_back(is_final_.size());
        const std::uint32_t count = graph.factors[f].slots * port.terms;
        is_final_.resize(is_final_.size() + count, port.message == nullptr);
        if (port.message == nullptr) continue;
        left_ += count;
        for (std::uint32_t q = 0; q < count; ++q) ++missing_[port.elements(q)];
      }
    }
    has_arrived_.resize(is_final_.size());
    for (std::uint32_t f = 0; f < graph.factors.size(); ++f)
      for (const std::uint32_t p : flow.targets(f))
        if (is_constant(graph.factors[f].ports[p]))
          for (std::uint32_t q = 0; q < graph.factors[f].slots * graph.factors[f].ports[p].terms; ++q) mark(f, p, q);
  }

  void make(const Visit& visit) {
    const Resolved::Factor& factor = graph_.factors[visit.factor];
    const std::uint32_t begin = visit.slot == kAllSlots ? 0 : visit.slot;
    const std::uint32_t end = visit.slot == kAllSlots ? factor.slots : visit.slot + 1;
    for (const std::uint32_t p : visit.refresh) {
      const Resolved::Port& port = factor.ports[p];
      for (std::uint32_t q = begin * port.terms; q < end * port.terms; ++q) {
        const std::size_t at = number(visit.factor, p) + q;
        const std::uint32_t e = port.elements(q);
        has_arrived_[at] = is_known_[e] || missing_[e] == (is_final_[at] ? 0u : 1u);
      }
    }
    struct Sent {
      std::uint32_t port, q;
    };
    std::vector<Sent> sent;  // all slots read before any slot writes
    for (const std::uint32_t p : visit.send)
      for (std::uint32_t s = begin; s < end; ++s)
        for (std::uint32_t t = 0; t < factor.ports[p].terms; ++t)
          if (reads_what_is_final(visit.factor, p, s, t)) sent.push_back({p, s * factor.ports[p].terms + t});
    for (const Sent& m : sent) mark(visit.factor, m.port, m.q);
  }
  bool are_all() const { return left_ == 0; }

 private:
  std::size_t number(std::uint32_t factor, std::uint32_t port) const { return first_[first_port_[factor] + port]; }
  void mark(std::uint32_t f, std::uint32_t p, std::uint32_t q) {
    const std::size_t at = number(f, p) + q;
    if (is_final_[at]) return;
    is_final_[at] = true;
    --left_;
    --missing_[graph_.factors[f].ports[p].elements(q)];
  }
  bool reads_what_is_final(std::uint32_t f, std::uint32_t p, std::uint32_t slot, std::uint32_t term) const {
    const Resolved::Port& target = graph_.factors[f].ports[p];
    // An exact message reads its own port only for the other variables there.
    const std::uint32_t own = graph_.variables[target.variables[0].value].family.components();
    for (const std::uint32_t r : flow_.reads(f, p)) {
      const std::uint32_t terms = graph_.factors[f].ports[r].terms;
      for (std::uint32_t t = 0; t < terms; ++t)
        if (!has_arrived_[number(f, r) + slot * terms + t] &&
            !(r == p && t / own == term / own && target.message->method == kExact))
          return false;
    }
    return true;
  }

  const Resolved& graph_;
  const Flow& flow_;
  std::vector<std::uint32_t> missing_;           // element -> messages that are not final
  std::vector<bool> is_known_;                   // by element
  std::vector<std::size_t> first_port_, first_;  // factor -> its first entry in the second; port -> its first message
  std::vector<bool> is_final_, has_arrived_;     // by message: itself, and what arrives where it goes
  std::size_t left_ = 0;
};

// The visits of a chain, each to all slots, are made slot after slot: visit i at time - offsets[i].
void make_chain(const Resolved& graph, const Flow& flow, const Schedule& schedule, const Chained& chain,
                FinalMessages& messages) {
  const auto slots_of = [&](std::size_t i) {
    return std::int64_t{graph.factors[schedule.visits[chain.first + i].factor].slots};
  };
  std::int64_t first = std::numeric_limits<std::int64_t>::max(), last = std::numeric_limits<std::int64_t>::min();
  for (std::size_t i = 0; i < chain.offsets.size(); ++i) {
    first = std::min(first, chain.offsets[i]);
    last = std::max(last, chain.offsets[i] + slots_of(i) - 1);
  }
  for (std::int64_t n = 0; n <= last - first; ++n)
    for (std::size_t i = 0; i < chain.offsets.size(); ++i) {
      const std::int64_t slot = (chain.step > 0 ? first + n : last - n) - chain.offsets[i];
      Visit visit = schedule.visits[chain.first + i];
      if (slot < 0 || slot >= slots_of(i)) continue;
      visit.slot = static_cast<std::uint32_t>(slot);
      visit.refresh |= flow.reads(visit.factor);
      messages.make(visit);
    }
}

bool is_proved_exact(const Resolved& graph, const Flow& flow, const Schedule& schedule) {
  const auto is_data = [](const Resolved::Factor& factor) { return factor.has_given_table != 0; };
  if (std::ranges::any_of(graph.factors, is_data)) return false;
  FinalMessages messages(graph, flow);
  auto chain = schedule.chains.begin();
  for (std::size_t i = 0; i < schedule.visits.size();) {
    if (chain != schedule.chains.end() && chain->first == i) {
      make_chain(graph, flow, schedule, *chain, messages);
      i += (chain++)->offsets.size();
    } else {
      messages.make(schedule.visits[i++]);
    }
  }
  return messages.are_all();
}

}  // namespace

void check_schedule(const Resolved& graph, const Flow& flow, Schedule& schedule) {
  check(schedule.name, schedule.iteration);
  check_visits(graph, flow, schedule);
  if (flow.is_exact_order(schedule)) return;
  check_chains(flow, schedule);
  if (!schedule.approximate.empty()) return;
  check_sends(graph, flow, schedule);
  if (schedule.order == Order::once && !is_proved_exact(graph, flow, schedule))
    schedule.approximate = "one sweep in which a message comes before all it needs: approximate; take forward_backward";
}

}  // namespace dma
