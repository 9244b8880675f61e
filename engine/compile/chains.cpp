#include "engine/compile/chains.h"

#include <algorithm>
#include <limits>
#include <map>

#include "engine/compile/recurrence.h"

namespace dma {

namespace {

// No graph of plates has more. A variable with ten thousand scalar factors, each of which needs all others, has.
constexpr std::size_t kMostNeeds = 10000000;

// True if slot s reaches the element s places after that of slot 0, in one variable.
bool is_along(const Resolved& graph, const Resolved::Port& port) {
  return port.variables.size() == 1 && port.elements.is_identical() &&
         port.terms == graph.variables[port.variables[0].value].family.components();
}

// True if slots may need each other: in a plate, or along a chain of a single step.
bool is_plate(const Resolved::Factor& factor) { return factor.slots > 1 || factor.is_along_chain; }

// True for a plate with an end that does not begin at its variable's first element: only such plates make chains.
bool is_shifted(const Resolved& graph, const Resolved::Factor& factor) {
  return is_plate(factor) && std::ranges::any_of(factor.ports, [&](const Resolved::Port& port) {
    return is_along(graph, port) && port.elements.base != graph.variables[port.variables[0].value].first_element;
  });
}

bool has_chain(const Resolved& graph) {
  return graph.has_plates &&
         std::ranges::any_of(graph.factors, [&](const auto& factor) { return is_shifted(graph, factor); });
}

bool overlap(const Resolved::Factor& f, const Resolved::Port& a, const Resolved::Factor& g, const Resolved::Port& b) {
  return a.elements.base < b.elements.base + std::uint64_t{g.slots} * b.terms &&
         b.elements.base < a.elements.base + std::uint64_t{f.slots} * a.terms;
}

std::int64_t distance_between(const Resolved::Port& reading, const Resolved::Port& sending) {
  return (std::int64_t{sending.elements.base} - reading.elements.base) / reading.terms;
}

// Blocks everything that needs something blocked.
void spread_blocked(const std::vector<Need>& needs, std::vector<bool>& blocked) {
  for (bool changed = true; changed;) {
    changed = false;
    for (const Need& need : needs)
      if (blocked[need.on] && !blocked[need.of]) blocked[need.of] = changed = true;
  }
}

// A part of a recurrence whose values need each other.
struct Part {
  std::vector<std::uint32_t> values;
  std::vector<Need> needs;    // among them, numbered by their order
  bool needs_others = false;  // some value needs one of another part
};

std::vector<Part> parts_of(std::uint32_t values, const std::vector<Need>& needs) {
  std::vector<Part> parts;
  std::vector<std::uint32_t> part_of(values), position(values);
  for (auto& part : strong_parts(values, needs)) {
    for (std::uint32_t i = 0; i < part.size(); ++i)
      part_of[part[i]] = static_cast<std::uint32_t>(parts.size()), position[part[i]] = i;
    parts.push_back({std::move(part), {}});
  }
  for (const Need& need : needs) {
    Part& part = parts[part_of[need.of]];
    if (part_of[need.on] != part_of[need.of]) part.needs_others = true;
    else part.needs.push_back({position[need.of], position[need.on], need.distance});
  }
  return parts;
}

}  // namespace

void ChainFinder::list_chains() {
  is_listed_ = true;
  has_chain_ = has_chain(graph_);
  if (!has_chain_) return;
  senders_.resize(graph_.variables.size());
  for (std::uint32_t f = 0; f < graph_.factors.size(); ++f)
    for (const std::uint32_t p : flow_.targets(f)) {
      const Resolved::Port& port = graph_.factors[f].ports[p];
      const bool is_single = graph_.factors[f].slots == 1 && is_along(graph_, port);
      for (const VariableId v : port.variables)
        (is_single ? senders_[v.value].single : senders_[v.value].others).push_back({f, p});
    }
  for (Senders& senders : senders_)
    std::ranges::sort(senders.single, {}, [&](MessageId m) { return first_element(m); });
}

std::uint32_t ChainFinder::first_element(MessageId m) const {
  return graph_.factors[m.factor].ports[m.port].elements.base;
}

// Calls visit(message) for all messages to elements that the port reads, and possibly for others.
template <class Visit>
void ChainFinder::for_each_sender(const Resolved::Factor& factor, const Resolved::Port& reading,
                                  const Visit& visit) const {
  const Senders& senders = senders_[reading.variables[0].value];
  for (const MessageId other : senders.others) {
    const Resolved::Port& sending = graph_.factors[other.factor].ports[other.port];
    if (!is_along(graph_, sending) || overlap(factor, reading, graph_.factors[other.factor], sending)) visit(other);
  }
  const auto key = [&](MessageId m) { return first_element(m); };
  auto next = std::ranges::lower_bound(senders.single, reading.elements.base, {}, key);
  for (; next != senders.single.end() &&
         first_element(*next) - reading.elements.base < std::uint64_t{factor.slots} * reading.terms;
       ++next)
    visit(*next);
}

std::vector<MessageChain> ChainFinder::next(const std::vector<PortSet>& sent) {
  if (!is_listed_) list_chains();
  if (!has_chain_) return {};
  std::vector<MessageId> messages;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> number_of;
  for (std::uint32_t f = 0; f < graph_.factors.size(); ++f) {
    const auto& ports = graph_.factors[f].ports;
    for (const std::uint32_t p : flow_.targets(f) - sent[f]) {
      bool is_regular = is_along(graph_, ports[p]);
      for (const std::uint32_t r : flow_.reads(f, p)) is_regular &= is_along(graph_, ports[r]);
      if (!is_regular) continue;
      number_of[{f, p}] = static_cast<std::uint32_t>(messages.size());
      messages.push_back({f, p});
    }
  }
  std::vector<Need> needs;
  std::vector<bool> blocked(messages.size());
  for (std::uint32_t m = 0; m < messages.size(); ++m) {
    const MessageId own = messages[m];
    const Resolved::Factor& factor = graph_.factors[own.factor];
    for (const std::uint32_t r : flow_.reads(own.factor, own.port)) {
      const Resolved::Port& reading = factor.ports[r];
      if (graph_.variables[reading.variables[0].value].cuts) continue;
      for_each_sender(factor, reading, [&](MessageId other) {
        if (sent[other.factor].has(other.port) || (other.factor == own.factor && other.port == r)) return;
        const auto found = number_of.find({other.factor, other.port});
        if (found == number_of.end()) blocked[m] = true;
        else
          needs.push_back(
              {m, found->second, distance_between(reading, graph_.factors[other.factor].ports[other.port])});
      });
    }
    if (needs.size() > kMostNeeds) return {};
  }
  spread_blocked(needs, blocked);
  std::vector<MessageChain> chains;
  for (const Part& part : parts_of(static_cast<std::uint32_t>(messages.size()), needs)) {
    const auto is_blocked = [&](std::uint32_t m) { return blocked[m]; };
    const auto cannot_chain = [&](std::uint32_t m) {
      const Resolved::Factor& factor = graph_.factors[messages[m].factor];
      return !is_plate(factor) || factor.ports[messages[m].port].message->chain == nullptr;
    };
    if (part.needs_others || std::ranges::any_of(part.values, is_blocked)) continue;
    if (part.needs.empty()) {
      chains.push_back({{messages[part.values[0]]}, {}});
      continue;
    }
    if (std::ranges::any_of(part.values, cannot_chain)) continue;
    const auto pace = find_pace(static_cast<std::uint32_t>(part.values.size()), part.needs);
    if (!pace) continue;
    MessageChain& chain = chains.emplace_back();
    chain.step = pace->step;
    for (const std::uint32_t i : pace->order) {
      chain.messages.push_back(messages[part.values[i]]);
      chain.offsets.push_back(pace->offset[i]);
    }
  }
  return chains;
}

bool flows_along_chains(const Resolved& graph) {
  if (!has_chain(graph)) return false;
  // Values: the variables by element, then the factors by slot.
  const auto first_factor = static_cast<std::uint32_t>(graph.variables.size());
  const auto values = static_cast<std::uint32_t>(graph.variables.size() + graph.factors.size());
  std::vector<Need> needs;
  constexpr std::int64_t kIrregular =
      std::numeric_limits<std::int64_t>::max();  // not the same for all slots of a plate
  for (std::uint32_t f = 0; f < graph.factors.size(); ++f)
    for (std::size_t p = 0; p < graph.factors[f].ports.size(); ++p) {
      const Resolved::Port& port = graph.factors[f].ports[p];
      const bool is_output = graph.factors[f].kind->ports()[p].output,
                 is_regular = is_along(graph, port) && is_plate(graph.factors[f]);
      const Resolved::Variable& variable = graph.variables[port.variables[0].value];
      const std::int64_t base =
                             (std::int64_t{port.elements.base} - variable.first_element) / variable.family.components(),
                         distance = !is_regular ? kIrregular
                                    : is_output ? base
                                                : -base;
      for (const VariableId v : port.variables)
        needs.push_back(is_output ? Need{v.value, first_factor + f, distance}
                                  : Need{first_factor + f, v.value, distance});
    }
  return std::ranges::all_of(parts_of(values, needs), [](const Part& part) {
    const bool is_regular =
        std::ranges::none_of(part.needs, [](const Need& need) { return need.distance == kIrregular; });
    return part.needs.empty() || (is_regular && find_pace(static_cast<std::uint32_t>(part.values.size()), part.needs));
  });
}

}  // namespace dma
