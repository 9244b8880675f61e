#include "engine/run/gather.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/messages/leave_one_out.h"
#include "engine/support/independent.h"

namespace dma {

namespace {

bool covers(const Combine::Source& source, std::uint32_t size) {
  return source.elements.is_identical() && source.elements.base == 0 && source.slots == size;
}

// Several slots to one element: element = (q / divisor) % modulus.
void add_affine(const MessageArrays& out, const Combine::Source& source, const MessageArrays& messages) {
  const IndexMap& map = source.elements;
  std::uint32_t element = 0, repeated = 0;
  for (std::uint32_t q = 0; q < source.slots; ++q) {
    out.set(map.base + element, multiply(out[map.base + element], messages[source.first_slot + q]));
    if (++repeated < map.divisor) continue;
    repeated = 0;
    if (++element == map.modulus) element = 0;
  }
}

}  // namespace

void combine(const Combine& op, const MessageArrays& messages, const MessageArrays& out) {
  const auto& sources = op.sources;
  std::size_t next = 0;
  if (sources.size() >= 2 && covers(sources[0], op.size) && covers(sources[1], op.size)) {
    multiply(messages.from(sources[0].first_slot), messages.from(sources[1].first_slot), out, op.size);
    next = 2;
  } else if (!sources.empty() && covers(sources[0], op.size)) {
    std::copy_n(messages.tau + sources[0].first_slot, op.size, out.tau);
    std::copy_n(messages.rho + sources[0].first_slot, op.size, out.rho);
    next = 1;
  } else {
    std::fill_n(out.tau, op.size, 0.0);
    std::fill_n(out.rho, op.size, 0.0);
  }
  for (; next < sources.size(); ++next) {
    const Combine::Source& source = sources[next];
    const IndexMap& map = source.elements;
    if (covers(source, op.size)) {
      multiply(out, messages.from(source.first_slot), out, op.size);
    } else if (map.is_affine() && map.divisor == 1 && map.base == 0 && map.modulus == op.size &&
               source.slots % op.size == 0) {
      multiply_by_rows(out, messages.from(source.first_slot), source.slots / op.size, op.size);
    } else if (map.is_affine()) {
      add_affine(out, source, messages);
    } else {
      const std::vector<std::uint32_t>& table = map.table;
      for (std::uint32_t q = 0; q < source.slots; ++q)
        out.set(table[q], multiply(out[table[q]], messages[source.first_slot + q]));
    }
  }
}

namespace {

// Marks the total of an element whose sums overflow: every message, even a uniform one, then counts as more than half
// of it.
constexpr double kNoTotal = -1;

void form_totals(std::uint32_t e, const Incidence& incidence, const MessageArrays& messages,
                 const ElementTotals& totals) {
  Natural sum;
  double magnitude = 0;
  for (const std::uint32_t slot : incidence.at(e)) {
    const double tau = messages.tau[slot];
    sum.tau += tau;
    sum.rho += messages.rho[slot];
    magnitude += std::abs(tau);
  }
  if (!is_finite_sum(2 * magnitude, sum.rho)) {
    const auto point =
        std::ranges::find_if(incidence.at(e), [&](std::uint32_t slot) { return messages.rho[slot] == kInfinity; });
    sum = point != incidence.at(e).end() ? messages[*point] : Natural{0, kNoTotal};
  }
  totals.tau[e] = sum.tau;
  totals.rho[e] = sum.rho;
  totals.magnitude[e] = magnitude;
  totals.stamp[e] = totals.current;
}

Natural all_but_own(std::uint32_t own, const Incidence& incidence, const MessageArrays& messages,
                    const ElementTotals& totals) {
  const std::uint32_t e = incidence.element[own];
  const Natural m = messages[own];
  const Natural total{totals.tau[e], totals.rho[e]};
  if (total.is_point()) return m.is_point() ? all_but(incidence, messages, own) : total;
  if (LeaveOneOut::may_subtract(m.rho, total.rho) && LeaveOneOut::may_subtract(m.tau, totals.magnitude[e]))
    return {total.tau - m.tau, total.rho - m.rho};
  return all_but(incidence, messages, own);
}

constexpr std::uint32_t kFewMessages = 4;  // with fewer messages summing anew is cheaper than keeping totals

void leave_out_one_by_one(std::uint32_t first_slot, std::uint32_t count, const Incidence& incidence,
                          const MessageArrays& messages, const ElementTotals& totals, const MessageArrays& out) {
  for (std::uint32_t k = 0; k < count; ++k) {
    const std::uint32_t own = first_slot + k;
    const std::uint32_t e = incidence.element[own];
    if (incidence.count_at(e) <= kFewMessages) {
      out.set(k, all_but(incidence, messages, own));
    } else {
      if (totals.stamp[e] != totals.current) form_totals(e, incidence, messages, totals);
      out.set(k, all_but_own(own, incidence, messages, totals));
    }
  }
}

// Totals of neighbouring elements, repeated until a loop over them is long enough to pay.
class RepeatedTotals {
 public:
  RepeatedTotals(const ElementTotals& totals, std::uint32_t first, std::uint32_t elements)
      : size_(elements * std::max(1u, kRoom / elements)), tau_(totals.tau + first), rho_(totals.rho + first),
        magnitude_(totals.magnitude + first) {
    if (elements > kRoom / 2) return;
    for (auto [from, room] : {std::pair{&tau_, repeated_[0]}, {&rho_, repeated_[1]}, {&magnitude_, repeated_[2]}}) {
      for (std::uint32_t i = 0; i < size_; ++i) room[i] = (*from)[i % elements];
      *from = room;
    }
  }
  std::uint32_t size() const { return size_; }

  // out = total - own; returns whether that is accurate for all of them (see all_but_own).
  bool subtract(const MessageArrays& own, std::uint32_t count, const MessageArrays& out) const {
    std::int64_t bad = 0;
    DMA_INDEPENDENT
    for (std::uint32_t i = 0; i < count; ++i) {
      const double tau = own.tau[i], rho = own.rho[i];
      const bool good = LeaveOneOut::may_subtract(rho, rho_[i]) & LeaveOneOut::may_subtract(tau, magnitude_[i]) &
                        (rho_[i] < kInfinity);
      out.tau[i] = tau_[i] - tau;
      out.rho[i] = rho_[i] - rho;
      bad += good ? 0 : 1;
    }
    return bad == 0;
  }

 private:
  static constexpr std::uint32_t kRoom = 64;
  double repeated_[3][kRoom];
  std::uint32_t size_;
  const double *tau_, *rho_, *magnitude_;
};

}  // namespace

void leave_one_out(std::uint32_t first_slot, std::uint32_t count, std::uint32_t row, const Incidence& incidence,
                   const MessageArrays& messages, const ElementTotals& totals, const MessageArrays& out) {
  if (row == 0 || count / row <= kFewMessages)
    return leave_out_one_by_one(first_slot, count, incidence, messages, totals, out);
  const std::uint32_t first = incidence.element[first_slot];
  for (std::uint32_t e = first; e < first + row; ++e)
    if (totals.stamp[e] != totals.current) form_totals(e, incidence, messages, totals);
  const RepeatedTotals repeated(totals, first, row);
  for (std::uint32_t k = 0; k < count; k += repeated.size()) {
    const std::uint32_t size = std::min(repeated.size(), count - k);
    if (!repeated.subtract(messages.from(first_slot + k), size, out.from(k)))
      leave_out_one_by_one(first_slot + k, size, incidence, messages, totals, out.from(k));
  }
}

}  // namespace dma
