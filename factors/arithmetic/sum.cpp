#include "factors/arithmetic/sum.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "engine/kinds/kind.h"
#include "engine/messages/leave_one_out.h"
#include "engine/support/independent.h"

namespace dma {

namespace {

struct SumMoments {
  double mean = 0;
  double variance = 0;
};

// The moments of c x. c = 0 has no contribution, since c^2 v would be 0 * inf for a uniform x, which has no mean
// either.
SumMoments moments(const Gaussian& x, double c) {
  if (c == 0) return {};
  if (x.is_point()) return {c * x.tau, 0};
  const double variance = 1 / x.rho;
  if (std::isinf(variance)) return {0, kInfinity};
  return {c * (x.tau * variance), c * c * variance};
}

double coefficient(std::span<const double> coefficients, std::size_t j) {
  return coefficients.empty() ? 1.0 : coefficients[j];
}

// The message to x if c x has these moments.
Gaussian divided(const SumMoments& of_cx, double c) {
  const double precision = 1 / of_cx.variance;
  return closed(c * precision * of_cx.mean, c * precision * c, [&] { return of_cx.mean / c; });
}

}  // namespace

double Sum::value(std::span<const double> terms, std::span<const double> coefficients) {
  double total = 0;
  for (std::size_t j = 0; j < terms.size(); ++j) total += coefficient(coefficients, j) * terms[j];
  return total;
}

Gaussian Sum::to_total(std::span<const Gaussian> terms, std::span<const double> coefficients) {
  SumMoments total;
  for (std::size_t j = 0; j < terms.size(); ++j) {
    const SumMoments own = moments(terms[j], coefficient(coefficients, j));
    total.mean += own.mean;
    total.variance += own.variance;
  }
  return Gaussian::from_moments(total.mean, total.variance);
}

// z enters both sums like a term; the terms enter the mean with opposite sign. Infinite variances are counted, not
// added: inf - inf would lose the finite rest.
void Sum::to_terms(std::span<const Gaussian> terms, const Gaussian& total, std::span<const double> coefficients,
                   std::span<Gaussian> out) {
  const std::size_t count = terms.size();
  const auto term = [&](std::size_t k) {
    const SumMoments m = moments(terms[k], coefficient(coefficients, k));
    return SumMoments{-m.mean, m.variance};
  };
  const auto term_mean = [&](std::size_t k) { return term(k).mean; };
  const auto term_variance = [&](std::size_t k) { return term(k).variance; };
  const SumMoments z = moments(total, 1);

  LeaveOneOut mean, variance;
  std::size_t unknown = 0;
  const auto add = [&](const SumMoments& m) {
    mean.add(m.mean);
    if (std::isinf(m.variance))
      ++unknown;
    else
      variance.add(m.variance);
  };
  add(z);
  for (std::size_t k = 0; k < count; ++k) add(term(k));

  for (std::size_t j = 0; j < count; ++j) {
    const double c = coefficient(coefficients, j);
    const SumMoments own = term(j);
    const bool own_unknown = std::isinf(own.variance);
    if (c == 0 || unknown > (own_unknown ? 1u : 0u)) {
      out[j] = Gaussian::uniform();
      continue;
    }
    // If one variance is infinite here it is the term's own, which enters no sum.
    const auto add_means = [&] { return sum_of_others(j, count, term_mean, z.mean); };
    const auto add_variances = [&] { return sum_of_others(j, count, term_variance, z.variance); };
    const double others_mean = mean.without(own.mean, add_means);
    const double others_variance = variance.without(own_unknown ? 0 : own.variance, add_variances);
    out[j] = divided({others_mean, others_variance}, c);
  }
}

namespace {

// out[t] = 1 / in[t], possibly in place. One division serves two: 1 / a = b / (a b). Returns false if that product, or
// an unpaired last entry, comes near the limits of a double, as for uniform messages and point masses.
bool reciprocals(const double* in, std::size_t count, double* out) {
  constexpr double kLargest = 1e300;
  const auto is_bad = [](double r) { return ((r > 1 / kLargest) & (r < kLargest)) ? 0 : 1; };
  std::int64_t bad = 0;
  std::size_t t = 0;
  DMA_INDEPENDENT
  for (; t < count / 2 * 2; t += 2) {
    const double a = in[t], b = in[t + 1], r = 1 / (a * b);
    out[t] = r * b;
    out[t + 1] = r * a;
    bad += is_bad(r);
  }
  if (t < count) bad += is_bad(out[t] = 1 / in[t]);
  return bad == 0;
}

bool is_proper(double tau, double rho) { return (rho > 0) & (rho < kInfinity) & (std::abs(tau) < kInfinity); }

// c m and c^2 v of every term of a block. Returns false if a message has no such moments, or c = 0 makes them
// meaningless.
template <class Terms>
bool read_terms(const SlotBlock& block, Terms terms, double* mean, double* variance) {
  const double* tau = block.tau_of(0);
  if (!reciprocals(block.rho_of(0), block.slots * terms, variance)) return false;
  std::int64_t bad = 0;
  for (std::size_t slot = 0; slot < block.slots; ++slot) {
    const double* const c = block.parameter(0, slot);
    for (std::size_t t = 0; t < terms; ++t) {
      mean[t] = c[t] * (tau[t] * variance[t]);
      variance[t] *= c[t] * c[t];
      bad += c[t] == 0;
    }
    tau += terms;
    mean += terms;
    variance += terms;
  }
  return bad == 0;
}

// Adds with several accumulators, because additions wait for each other.
struct LongSum {
  double sum = 0, magnitude = 0, largest = 0;
};
LongSum long_sum(const double* term, std::size_t count) {
  constexpr std::size_t kTogether = 4;
  double sum[kTogether] = {}, magnitude[kTogether] = {}, largest[kTogether] = {};
  std::size_t t = 0;
  for (; t + kTogether <= count; t += kTogether)
    for (std::size_t i = 0; i < kTogether; ++i) {
      const double size = std::abs(term[t + i]);
      sum[i] += term[t + i];
      magnitude[i] += size;
      largest[i] = largest[i] > size ? largest[i] : size;
    }
  LongSum all;
  for (; t < count; ++t) {
    sum[0] += term[t];
    magnitude[0] += std::abs(term[t]);
    largest[0] = std::max(largest[0], std::abs(term[t]));
  }
  for (std::size_t i = 0; i < kTogether; ++i) {
    all.sum += sum[i];
    all.magnitude += magnitude[i];
    all.largest = std::max(all.largest, largest[i]);
  }
  return all;
}

constexpr std::size_t kLongRow = 32;  // in shorter rows finding the largest term costs more than adding twice

// sums_of_others; in long rows in which no term exceeds half of the sum, as the total minus the term (leave_one_out.h).
template <class Terms>
void sums_without_own(const double* term, Terms terms, double* __restrict sums) {
  if (std::is_same_v<Terms, std::size_t> && terms >= kLongRow) {
    const LongSum all = long_sum(term, terms);
    if (LeaveOneOut::may_subtract(all.largest, all.magnitude)) {
      for (std::size_t t = 0; t < terms; ++t) sums[t] = all.sum - term[t];
      return;
    }
  }
  sums_of_others(term, terms, sums);
}

template <class Terms>
double sum_of_all(const double* term, Terms terms) {
  if (std::is_same_v<Terms, std::size_t> && terms >= kLongRow) return long_sum(term, terms).sum;
  double sum = 0;
  for (std::size_t t = 0; t < terms; ++t) sum += term[t];
  return sum;
}

}  // namespace

bool Sum::block_to_total(const SlotBlock& block) {
  return with_row_length(block.call.reads[0].terms, [&](const auto terms) {
    const double *mean = block.spare, *variance = block.spare + block.slots * terms;
    if (!read_terms(block, terms, block.spare, block.spare + block.slots * terms)) return false;
    for (std::size_t slot = 0; slot < block.slots; ++slot, mean += terms, variance += terms) {
      block.tau[slot] = sum_of_all(mean, terms);
      block.rho[slot] = sum_of_all(variance, terms);
    }
    if (!reciprocals(block.rho, block.slots, block.rho)) return false;
    std::int64_t bad = 0;
    for (std::size_t slot = 0; slot < block.slots; ++slot) {
      block.tau[slot] *= block.rho[slot];
      bad += is_proper(block.tau[slot], block.rho[slot]) ? 0 : 1;
    }
    return bad == 0;
  });
}

// Uses the places of the results for the sums over the others.
bool Sum::block_to_terms(const SlotBlock& block) {
  return with_row_length(block.call.reads[0].terms, [&](const auto terms) {
    const std::size_t count = block.slots * terms;
    const double *mean = block.spare, *variance = block.spare + count, *total_tau = block.tau_of(1),
                 *total_rho = block.rho_of(1);
    if (!read_terms(block, terms, block.spare, block.spare + count)) return false;
    double *tau = block.tau, *rho = block.rho;
    for (std::size_t slot = 0; slot < block.slots; ++slot) {
      const double z_variance = 1 / total_rho[slot];
      const double z_mean = total_rho[slot] == kInfinity ? total_tau[slot] : total_tau[slot] * z_variance;
      sums_without_own(mean, terms, tau);
      sums_without_own(variance, terms, rho);
      for (std::size_t t = 0; t < terms; ++t) {
        tau[t] = z_mean - tau[t];
        rho[t] += z_variance;
      }
      mean += terms;
      variance += terms;
      tau += terms;
      rho += terms;
    }
    if (!reciprocals(block.rho, count, block.rho)) return false;
    tau = block.tau;
    rho = block.rho;
    std::int64_t bad = 0;
    for (std::size_t slot = 0; slot < block.slots; ++slot, tau += terms, rho += terms) {
      const double* const c = block.parameter(0, slot);
      for (std::size_t t = 0; t < terms; ++t) {
        rho[t] *= c[t];
        tau[t] *= rho[t];
        rho[t] *= c[t];
        bad += is_proper(tau[t], rho[t]) ? 0 : 1;
      }
    }
    return bad == 0;
  });
}

void Sum::linear_view(const LinearCall& call) {
  std::fill_n(call.value, call.slots, 0.0);
  const ParameterView& coefficients = call.parameters[0];
  for (std::size_t i = 0; i < call.inputs; ++i) {
    const double* const x = call.input(i);
    for (std::size_t s = 0; s < call.slots; ++s) call.value[s] += coefficients.at(0, s)[i] * x[s];
    if (call.gains == nullptr) continue;
    double* const gain = call.gain(i);
    for (std::size_t s = 0; s < call.slots; ++s) gain[s] = coefficients.at(0, s)[i];
  }
  call.no_variance_gains();
}

Kind sum_kind() {
  return kind("sum", "total = sum of coefficient * term (of logarithms on log_normal variables)")
      .variadic_input("terms", std::nullopt)
      .output("total", std::nullopt)
      .per_term_parameter("coefficients", 1.0, finite())
      .function([](auto v, auto c) { return Sum::value(v, c); })
      .linear_view(&Sum::linear_view, linear_in_all)
      .message<&Sum::message_to_total, &Sum::block_to_total>(kExact, "total")
      .message<&Sum::message_to_terms, &Sum::block_to_terms>(kExact, "terms", from("terms", "total"));
}

}  // namespace dma
