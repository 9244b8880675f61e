#include "engine/run/held_cavities.h"

#include <algorithm>
#include <cmath>

#include "engine/kinds/kind.h"
#include "engine/support/independent.h"

namespace dma {

namespace {

bool overlap(std::uint32_t first, std::uint32_t count, std::uint32_t other_first, std::uint32_t other_count) {
  return first < other_first + other_count && other_first < first + count;
}

}  // namespace

// True if only sends of one group read the cavity, each whole and as its first argument, and the send that writes to it
// is the last: then nothing reads an intermediate value within a sweep. Records those sends.
bool HeldCavities::reads_alone(const PlanData& plan, std::uint32_t g, std::uint32_t p, Candidate& candidate) {
  const Group& group = plan.groups[g];
  bool has_learned = false;
  for (std::uint32_t own = 0; own < plan.operations.size(); ++own) {
    const Operation& operation = plan.operations[own];
    if (std::holds_alternative<ChainSend>(operation)) return false;
    if (const auto* gather = std::get_if<GatherOthers>(&operation)) {
      if (gather->group == g && gather->port == p) return false;
    } else if (const auto* combine = std::get_if<Combine>(&operation)) {
      for (const Combine::Source& source : combine->sources)
        if (overlap(source.first_slot, source.slots, candidate.first_slot, candidate.size)) return false;
    } else {
      const Send& send = std::get<Send>(operation);
      if (send.is_chain) return false;
      const bool writes = send.group == g && (send.port == p || (send.pair != nullptr && send.pair->second == p));
      bool reads = false;
      for (std::size_t i = 0; i < send.reads.size(); ++i) {
        const ReadView& read = send.reads[i];
        if (read.from != ReadView::From::messages) continue;
        // Other inputs of this group's sends are no cavities: a port has one variable.
        if (!overlap(read.first, 1, candidate.first_slot, candidate.size)) continue;
        const bool is_whole = i == 0 && send.group == g && send.first == 0 && send.count == group.slots &&
                              read.first == candidate.first_slot && read.column == candidate.terms;
        if (!is_whole) return false;
        reads = true;
      }
      if (!reads && !writes) continue;
      const HeldKernel kernel = send.pair != nullptr ? send.pair->held : group.ports[send.port].message->held;
      if (!reads || kernel == nullptr || (writes && send.port != p) || has_learned) return false;
      has_learned = writes;
      candidate.uses.push_back({own, kernel});
    }
  }
  return !candidate.uses.empty();
}

// Checks the kernels' second port: whether its messages are written between the first and the last kernel, and whether
// one operation only combines the messages they send there.
void HeldCavities::find_second(const PlanData& plan, const Group& group, Candidate& candidate) {
  const std::uint32_t last = candidate.uses.back().first;
  const Send& learns = std::get<Send>(plan.operations[last]);
  if (learns.reads.size() < 2 || (learns.reads[1].column != 0 && candidate.slots > 1)) return;
  const ReadView& second = learns.reads[1];
  const auto writes_second = [&](const Send& send) {
    const Group& sender = plan.groups[send.group];
    const auto covers = [&](std::size_t port) {
      return overlap(second.first, 1, sender.ports[port].first_slot, sender.slots * sender.ports[port].terms);
    };
    return covers(send.port) || (send.pair != nullptr && covers(send.pair->second));
  };
  if (candidate.uses.size() == 2 && second.from == ReadView::From::messages) {
    const std::uint32_t first = candidate.uses.front().first;
    candidate.is_read_again = std::get<Send>(plan.operations[first]).reads[1] == second;
    for (std::uint32_t i = first; i < last; ++i)
      if (const Send* send = std::get_if<Send>(&plan.operations[i])) candidate.is_read_again &= !writes_second(*send);
  }
  if (learns.pair == nullptr) return;
  candidate.second_slots = group.ports[learns.pair->second].first_slot;
  if (last + 1 == plan.operations.size()) return;
  const Combine* const combine = std::get_if<Combine>(&plan.operations[last + 1]);
  if (combine == nullptr || combine->sources.size() != 1) return;
  const Combine::Source& source = combine->sources[0];
  const IndexMap& map = source.elements;
  // A single slot's terms are the whole variable.
  const bool is_by_rows = map.is_affine() && map.divisor == 1 && map.base == 0 &&
                          (map.modulus == candidate.terms || candidate.slots == 1);
  if (is_by_rows && source.first_slot == candidate.second_slots && source.slots == candidate.size &&
      combine->size == candidate.terms) {
    candidate.combined = combine->first_arrival;
    candidate.uses.push_back({last + 1, nullptr});
  }
}

HeldCavities::HeldCavities(const PlanData& plan) {
  if (plan.schedule.order != Schedule::Order::once) return;
  for (std::uint32_t v = 0; v < plan.variables.size(); ++v) {
    const auto variable = plan.variables[v];
    if (!variable.shared || variable.observed || variable.family.components() != 1 ||
        !variable.family->is_like_gaussian)
      continue;
    const PlanData::Variable::End* only = nullptr;
    std::size_t others = 0;
    for (const auto& end : variable.ends) {
      if (end.in_cavity) continue;
      only = &end;
      ++others;
    }
    if (others != 1 || only->of_model) continue;
    const Group& group = plan.groups[only->group];
    const Group::Port& port = group.ports[only->port];
    const bool is_whole = port.elements.is_identical() && port.elements.base == variable.first_element &&
                          group.slots * port.terms == variable.size && group.columns == group.slots;
    // A single term may become a point mass, and two of them may then contradict each other.
    if (!is_whole || port.terms < 2) continue;
    Candidate candidate{v, variable.first_slot, variable.size, group.slots, port.terms, {}};
    if (!reads_alone(plan, only->group, only->port, candidate)) continue;
    find_second(plan, group, candidate);
    candidates_.push_back(std::move(candidate));
  }
  if (!candidates_.empty()) uses_.resize(plan.operations.size());
}

bool HeldCavities::hold(VariableId variable, const MessageArrays& messages, const MessageArrays& arrivals) {
  const auto found = std::ranges::find(candidates_, variable.value, &Candidate::variable);
  if (found == candidates_.end() || found->is_held) return false;
  Candidate& c = *found;
  c.memory.resize(2 * std::size_t{c.size} + kHeldPerSlot * c.slots + kHeldPerTerm * c.terms);
  c.cavity = {.mean = c.memory.data(),
              .variance = c.memory.data() + c.size,
              .natural = messages.from(c.first_slot),
              .per_slot = c.memory.data() + 2 * std::size_t{c.size}};
  c.cavity.per_term = c.cavity.per_slot + kHeldPerSlot * c.slots;
  c.cavity.is_read_again = c.is_read_again;
  if (c.combined != kNowhere) c.cavity.product = arrivals.from(c.combined);
  constexpr double kLargest = 1e25, kLargestMean = 1e12;  // kernels take eighth powers
  std::int64_t far = 0;
  const double *const tau = c.cavity.natural.tau, *const rho = c.cavity.natural.rho;
  double *const mean = c.cavity.mean, *const variance = c.cavity.variance;
  DMA_INDEPENDENT
  for (std::size_t i = 0; i < c.size; ++i) {
    const double v = 1 / rho[i], m = tau[i] * v;
    variance[i] = v;
    mean[i] = m;
    far += ((v > 1 / kLargest) & (v < kLargest) & (std::abs(m) < kLargestMean)) ? 0 : 1;
  }
  if (far > 0) return false;
  c.is_held = true;
  ++held_;
  for (const auto& [operation, kernel] : c.uses)
    uses_[operation] = {kernel, &c.cavity, operation == c.uses.front().first};
  // Kernels then write only the message of the first slot.
  if (c.second_slots != kNowhere && c.slots > 1) {
    const MessageArrays others = messages.from(c.second_slots + c.terms);
    std::fill_n(others.tau, c.size - c.terms, 0.0);
    std::fill_n(others.rho, c.size - c.terms, 0.0);
  }
  return true;
}

bool HeldCavities::is_held(VariableId variable) const {
  if (held_ == 0) return false;
  const auto found = std::ranges::find(candidates_, variable.value, &Candidate::variable);
  return found != candidates_.end() && found->is_held;
}

void HeldCavities::let_go(Candidate& candidate) {
  if (!candidate.is_held) return;
  for (const auto& [operation, kernel] : candidate.uses) uses_[operation] = {};
  candidate.is_held = false;
  --held_;
}

void HeldCavities::drop() {
  for (Candidate& candidate : candidates_) let_go(candidate);
}

bool HeldCavities::release() {
  bool has_points = false;
  for (Candidate& c : candidates_) {
    if (!c.is_held) continue;
    // learned() for all elements, with selections in place of its branch. A variance is unchanged if it differs from 1
    // / rho by rounding only, and a mean if it belongs to that variance; the test needs no division.
    constexpr double kRounding = 2.3e-16;
    double *const tau = c.cavity.natural.tau, *const rho = c.cavity.natural.rho;
    const double *const mean = c.cavity.mean, *const variance = c.cavity.variance;
    std::int64_t points = 0;
    DMA_INDEPENDENT
    for (std::size_t i = 0; i < c.size; ++i) {
      const double m = mean[i], v = variance[i], t = tau[i], r = rho[i], now = 1 / v;
      const double more = now > r ? now : r, moved = more == kInfinity ? m : m * more;
      const bool is_same = (std::abs(v * r - 1) < kRounding) & (m == t * v);
      tau[i] = is_same ? t : moved;
      rho[i] = is_same ? r : more;
      points += v == 0 ? 1 : 0;
    }
    has_points |= points > 0;
    let_go(c);
  }
  return has_points;
}

}  // namespace dma
