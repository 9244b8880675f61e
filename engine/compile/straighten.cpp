#include <algorithm>
#include <optional>

#include "engine/compile/lower.h"
#include "engine/compile/plan_data.h"

namespace dma {

namespace {

// Places of the messages that arrive on one port, relative to the slot that reads them.
using Places = std::vector<std::int64_t>;

// The messages that arrive at a slot, by argument.
void find_places(const PlanData& plan, const Send& op, std::int64_t slot, std::vector<Places>& places) {
  const Group& group = plan.groups[op.group];
  const std::vector<std::size_t>& reads = group.ports[op.port].message->reads;
  const Incidence incidence = plan.incidence();
  places.resize(reads.size());
  for (std::size_t i = 0; i < reads.size(); ++i) {
    places[i].clear();
    const auto own = static_cast<std::uint32_t>(group.ports[reads[i]].first_slot + slot);
    for (const std::uint32_t other : incidence.at(plan.element_of_slot[own]))
      if (other != own) places[i].push_back(other - slot);
  }
}

bool has_one_message_each(const PlanData& plan, const Send& op) {
  const Group& group = plan.groups[op.group];
  const auto& reads = group.ports[op.port].message->reads;
  return group.ports[op.port].terms == 1 &&
         std::ranges::all_of(reads, [&](std::size_t r) { return group.ports[r].terms == 1; });
}

// True if each argument is gathered when it is used, and nothing else needs it.
bool gathers_all(const PlanData& plan, const Send& op) {
  const auto& reads = plan.groups[op.group].ports[op.port].message->reads;
  return op.keep.empty() && std::ranges::all_of(reads, [&](std::size_t r) { return op.refresh.has(r); });
}

bool is_like_gaussian(const PlanData& plan, const Send& op) {
  const std::uint32_t slot = plan.groups[op.group].ports[op.port].first_slot + op.first;
  return plan.variables.at_element(plan.element_of_slot[slot]).family->is_like_gaussian;
}

ChainSend::Message message_of(const Send& op, std::int64_t slot, const std::vector<Places>& places, bool remembers) {
  ChainSend::Message message{op.group, op.port, slot, {}, remembers};
  for (const Places& of_argument : places) {
    auto& sources = message.reads.emplace_back();
    for (const std::int64_t at : of_argument) sources.push_back({at, false});
  }
  return message;
}

// True if an argument is an observed value: a look-up then needs no sum.
bool has_value(const PlanData& plan, std::int64_t slot, const std::vector<Places>& places) {
  return std::ranges::any_of(places, [&](const Places& of_argument) {
    return std::ranges::any_of(of_argument, [&](std::int64_t at) {
      const auto source = static_cast<std::uint32_t>(at + slot);
      return source < plan.first_message && plan.variables.at_element(plan.element_of_slot[source]).observed;
    });
  });
}

// Returns nothing if neighbours keep constant places for too few slots at a time.
std::optional<ChainSend> straightened(const PlanData& plan, const Send& op) {
  constexpr std::uint32_t kEnds = 4, kLeastLength = 64;  // short segments at the ends, mean length of the rest
  const bool has_kernel = plan.groups[op.group].ports[op.port].message->chain != nullptr;
  if (!op.is_chain || op.at_hubs || !has_kernel || !has_one_message_each(plan, op) || !gathers_all(plan, op)) return {};
  const bool remembers = is_like_gaussian(plan, op);
  std::vector<Places> places, before;
  ChainSend chain{op.step, false, {}};
  std::int64_t slot = op.first;
  for (std::uint32_t k = 0; k < op.count; ++k, slot += op.step) {
    find_places(plan, op, slot, places);
    if (k == 0 || places != before) {
      if (chain.segments.size() > kEnds + k / kLeastLength || has_value(plan, slot, places)) return {};
      chain.segments.push_back({0, {message_of(op, slot, places, remembers)}});
      std::swap(places, before);
    }
    ++chain.segments.back().count;
  }
  return chain;
}

struct SlotInterval {
  std::int64_t first, last;
  bool overlaps(const SlotInterval& other) const { return first <= other.last && other.first <= last; }
};

// The messages at slots `first`, first + step, ... of a segment, `terms` at each, from the message at `at` on.
SlotInterval interval(std::int64_t at, std::int64_t first, std::int64_t count, int step, std::int64_t terms) {
  const std::int64_t last = first + (count - 1) * step;
  return {at + std::min(first, last) * terms, at + (std::max(first, last) + 1) * terms - 1};
}

bool sends_any(const PlanData& plan, const ChainSend& writer, const SlotInterval& wanted) {
  for (const ChainSend::Segment& segment : writer.segments)
    for (const ChainSend::Message& message : segment.messages) {
      const Group::Port& port = plan.groups[message.group].ports[message.port];
      if (interval(port.first_slot, message.first, segment.count, writer.step, port.terms).overlaps(wanted))
        return true;
    }
  return false;
}

// Arrivals were gathered before both chains.
bool reads_from(const PlanData& plan, const ChainSend& reader, const ChainSend& writer) {
  for (const ChainSend::Segment& segment : reader.segments)
    for (const ChainSend::Message& message : segment.messages)
      for (std::size_t i = 0; i < message.reads.size(); ++i) {
        const Group& group = plan.groups[message.group];
        const std::int64_t terms = group.ports[group.ports[message.port].message->reads[i]].terms;
        for (const ChainSend::Source& source : message.reads[i])
          if (!source.is_arrival &&
              sends_any(plan, writer, interval(source.at, message.first, segment.count, reader.step, terms)))
            return true;
      }
  return false;
}

}  // namespace

void straighten(PlanData& plan) {
  for (Operation& op : plan.operations)
    if (const Send* const send = std::get_if<Send>(&op))
      if (auto chain = straightened(plan, *send)) op = std::move(*chain);
}

void pair_chains(PlanData& plan) {
  for (std::size_t i = 1; i < plan.operations.size(); ++i) {
    const ChainSend* const before = std::get_if<ChainSend>(&plan.operations[i - 1]);
    ChainSend* const chain = std::get_if<ChainSend>(&plan.operations[i]);
    if (before != nullptr && chain != nullptr)
      chain->is_beside_last = !reads_from(plan, *chain, *before) && !reads_from(plan, *before, *chain);
  }
}

}  // namespace dma
