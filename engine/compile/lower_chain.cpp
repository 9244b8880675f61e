#include <algorithm>

#include "engine/compile/lower.h"
#include "engine/compile/plan_data.h"

namespace dma {

namespace {

// A source, and the slots that have it.
struct Reaching {
  ChainSend::Source source;
  std::int64_t first, last;  // last: one beyond
};
using Arriving = std::vector<Reaching>;  // on one port

struct Message {
  std::uint32_t group, port;
  std::int64_t offset, slots;
  std::vector<Arriving> reads = {};  // by argument
  bool remembers = true;             // see ChainSend::Message
};

class ChainLowering {
 public:
  ChainLowering(ArrivalPlanner& arrivals, Draft& draft) : arrivals_(arrivals), draft_(draft), plan_(draft.plan) {}

  ChainSend lower(const Chained& chain) {
    for (std::size_t i = 0; i < chain.offsets.size(); ++i) {
      const Visit& visit = plan_.schedule.visits[chain.first + i];
      const std::uint32_t g = draft_.places[visit.factor].group;
      messages_.push_back({g, visit.send.first(), chain.offsets[i], plan_.groups[g].slots});
    }
    for (Message& m : messages_) {
      for (const std::size_t r : plan_.groups[m.group].ports[m.port].message->reads)
        m.reads.push_back(arriving(m.group, static_cast<std::uint32_t>(r)));
      m.remembers = variable_of(m.group, m.port).family->is_like_gaussian;
    }
    for (const Message& m : messages_) arrivals_.note_sent(m.group, m.port);
    ChainSend lowered{chain.step, false, segments(chain.step)};
    if (chain.step < 0) std::ranges::reverse(lowered.segments);
    return lowered;
  }

 private:
  bool is_chained(std::uint32_t g, std::uint32_t p) const {
    return std::ranges::any_of(messages_, [&](const Message& m) { return m.group == g && m.port == p; });
  }

  Arriving arriving(std::uint32_t g, std::uint32_t r) {
    const Group& group = plan_.groups[g];
    const Group::Port& port = group.ports[r];
    const PlanData::Variable variable = variable_of(g, r);
    Arriving chained, before;
    if (variable.first_slot != kNowhere)
      add(before, port, group.slots, variable.first_slot, variable.first_element, variable.size);
    bool is_few = true;
    for (const auto& end : variable.ends) {
      const Group& other = plan_.groups[end.group];
      const Group::Port& sending = other.ports[end.port];
      if (variable.cuts || (end.group == g && end.port == r) || sending.message == nullptr || end.in_cavity) continue;
      if (is_chained(end.group, end.port))
        add(chained, port, group.slots, sending.first_slot, sending.elements.base,
            std::int64_t{other.slots} * sending.terms);
      else if (arrivals_.is_sent(end.group, end.port))
        is_few &= add_all(before, port, group.slots, variable, other, sending);
    }
    if (!is_few) {
      // They have no constant places: gather them before the chain begins.
      arrivals_.gather(g, r, 0, group.slots);
      before = {{{plan_.groups[g].ports[r].first_arrival, true}, 0, group.slots}};
    }
    before.insert(before.end(), chained.begin(), chained.end());
    return before;
  }

  PlanData::Variable variable_of(std::uint32_t g, std::uint32_t p) const {
    return plan_.variables[draft_.graph.factors[plan_.groups[g].members[0]].ports[p].variables[0].value];
  }

  // Adds `count` messages from first_slot on, to elements from first_element on, all counted in components.
  static void add(Arriving& to, const Group::Port& port, std::int64_t slots, std::int64_t first_slot,
                  std::int64_t first_element, std::int64_t count) {
    const std::int64_t ahead = first_element - port.elements.base, components = port.terms;
    const std::int64_t first = std::max<std::int64_t>(0, ahead / components),
                       last = std::min(slots, (ahead + count) / components);
    if (first < last) to.push_back({{first_slot - ahead, false}, first, last});
  }

  // Adds all messages of a port that was sent before; returns false if they are too many single ones.
  static bool add_all(Arriving& to, const Group::Port& port, std::uint32_t slots, const PlanData::Variable& variable,
                      const Group& other, const Group::Port& sending) {
    if (sending.terms == variable.family.components() && sending.elements.is_identical())
      return add(to, port, slots, sending.first_slot, sending.elements.base, std::int64_t{other.slots} * sending.terms),
             true;
    if (sending.elements.is_given || variable.family.components() > 1) return false;
    constexpr int kFew = 16;
    int found = 0;
    for (std::uint32_t q = 0; q < other.slots * sending.terms; ++q)
      if (const std::uint32_t e = sending.elements(q); e - variable.first_element < variable.size) {
        if (++found > kFew) return false;
        add(to, port, slots, sending.first_slot + q, e, 1);
      }
    return true;
  }

  // Steps are alike between the times at which a message or one of its sources begins or ends.
  std::vector<ChainSend::Segment> segments(int step) const {
    std::vector<std::int64_t> times;
    for (const Message& m : messages_) {
      times.insert(times.end(), {m.offset, m.offset + m.slots});
      for (const Arriving& read : m.reads)
        for (const Reaching& r : read) times.insert(times.end(), {r.first + m.offset, r.last + m.offset});
    }
    std::ranges::sort(times);
    times.erase(std::unique(times.begin(), times.end()), times.end());
    std::vector<ChainSend::Segment> out;
    for (std::size_t i = 0; i + 1 < times.size(); ++i) {
      ChainSend::Segment segment{static_cast<std::uint32_t>(times[i + 1] - times[i]), {}};
      const std::int64_t begin = step > 0 ? times[i] : times[i + 1] - 1;
      for (const Message& m : messages_)
        if (const std::int64_t slot = begin - m.offset; slot >= 0 && slot < m.slots)
          segment.messages.push_back(at_slot(m, slot));
      if (!segment.messages.empty()) out.push_back(std::move(segment));
    }
    return out;
  }

  static ChainSend::Message at_slot(const Message& m, std::int64_t slot) {
    ChainSend::Message message{m.group, m.port, slot, {}, m.remembers};
    for (const Arriving& read : m.reads) {
      auto& sources = message.reads.emplace_back();
      for (const Reaching& r : read)
        if (r.first <= slot && slot < r.last) sources.push_back(r.source);
    }
    return message;
  }

  ArrivalPlanner& arrivals_;
  const Draft& draft_;
  PlanData& plan_;
  std::vector<Message> messages_;
};

}  // namespace

ChainSend lower_chain(const Chained& chain, ArrivalPlanner& arrivals, Draft& draft) {
  return ChainLowering(arrivals, draft).lower(chain);
}

}  // namespace dma
