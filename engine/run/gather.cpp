#include "engine/run/gather.h"

#include <algorithm>
#include <cmath>

namespace dma {

namespace {

void absorb(const MessageArrays& out, std::size_t i, const Natural& m) {
  out.set(i, multiply(out[i], m));
}

bool covers(const Combine::Source& source, std::uint32_t size) {
  return source.elements.is_identical() && source.elements.base == 0 && source.slots == size;
}

// out *= rows of messages, one below the other. Sums stay in registers while all rows are walked; only where a point mass
// turns up is that done message by message.
void multiply_rows(const MessageArrays& out, const MessageArrays& messages, std::uint32_t rows, std::uint32_t size) {
  constexpr std::uint32_t kTogether = 8;
  for (std::uint32_t first = 0; first < size; first += kTogether) {
    double tau[kTogether], rho[kTogether];
    const std::uint32_t count = std::min(kTogether, size - first);
    std::copy_n(out.tau + first, count, tau);
    std::copy_n(out.rho + first, count, rho);
    const auto add = [&](std::uint32_t together) {
      const double *row_tau = messages.tau + first, *row_rho = messages.rho + first;
      for (std::uint32_t row = 0; row < rows; ++row, row_tau += size, row_rho += size)
        for (std::uint32_t i = 0; i < together; ++i) tau[i] += row_tau[i], rho[i] += row_rho[i];
    };
    if (count == kTogether) add(kTogether);
    else add(count);
    if (std::find(rho, rho + count, kInfinity) == rho + count) {
      std::copy_n(tau, count, out.tau + first);
      std::copy_n(rho, count, out.rho + first);
    } else {
      for (std::uint32_t row = 0; row < rows; ++row)
        for (std::uint32_t i = first; i < first + count; ++i) absorb(out, i, messages[row * size + i]);
    }
  }
}

// Several slots to one element: element = (q / divisor) % modulus.
void add_affine(const MessageArrays& out, const Combine::Source& source, const MessageArrays& messages) {
  const IndexMap& map = source.elements;
  std::uint32_t element = 0, repeated = 0;
  for (std::uint32_t q = 0; q < source.slots; ++q) {
    absorb(out, map.base + element, messages[source.first_slot + q]);
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
    } else if (map.is_affine() && map.divisor == 1 && map.base == 0 && map.modulus == op.size && source.slots % op.size == 0) {
      multiply_rows(out, messages.from(source.first_slot), source.slots / op.size, op.size);
    } else if (map.is_affine()) {
      add_affine(out, source, messages);
    } else {
      for (std::uint32_t q = 0; q < source.slots; ++q) absorb(out, map.table[q], messages[source.first_slot + q]);
    }
  }
}

namespace {

void form_totals(std::uint32_t e, const Incidence& incidence, const MessageArrays& messages, const ElementTotals& totals) {
  Natural sum;
  double magnitude = 0;
  for (const std::uint32_t slot : incidence.at(e)) {
    const double tau = messages.tau[slot];
    sum.tau += tau;
    sum.rho += messages.rho[slot];
    magnitude += std::abs(tau);
  }
  if (sum.rho == kInfinity) {  // a point mass among them
    sum = {};
    for (const std::uint32_t slot : incidence.at(e)) sum = multiply(sum, messages[slot]);
  }
  totals.tau[e] = sum.tau;
  totals.rho[e] = sum.rho;
  totals.magnitude[e] = magnitude;
  totals.stamp[e] = totals.current;
}

// The rounding error of a sum of n terms is about n eps times the sum of magnitudes, with or without one of them; taking
// one away again costs more than a factor 2 only if that one is more than half of all. At most one precision and one
// location at an element can be.
Natural all_but_own(std::uint32_t own, const Incidence& incidence, const MessageArrays& messages,
                    const ElementTotals& totals) {
  const std::uint32_t e = incidence.element[own];
  const Natural m = messages[own];
  const Natural total{totals.tau[e], totals.rho[e]};
  if (total.is_point()) return m.is_point() ? all_but(incidence, messages, own) : total;
  if (2 * m.rho > total.rho || 2 * std::abs(m.tau) > totals.magnitude[e]) return all_but(incidence, messages, own);
  return {total.tau - m.tau, total.rho - m.rho};
}

}  // namespace

void leave_one_out(std::uint32_t first_slot, std::uint32_t count, const Incidence& incidence, const MessageArrays& messages,
                   const ElementTotals& totals, const MessageArrays& out) {
  for (std::uint32_t k = 0; k < count; ++k) {
    const std::uint32_t own = first_slot + k;
    const std::uint32_t e = incidence.element[own];
    Natural arrival;
    constexpr std::uint32_t kFewMessages = 4;  // summing them anew is cheaper than keeping totals
    if (incidence.first[e + 1] - incidence.first[e] <= kFewMessages) {
      arrival = all_but(incidence, messages, own);
    } else {
      if (totals.stamp[e] != totals.current) form_totals(e, incidence, messages, totals);
      arrival = all_but_own(own, incidence, messages, totals);
    }
    out.tau[k] = arrival.tau;
    out.rho[k] = arrival.rho;
  }
}

}  // namespace dma
