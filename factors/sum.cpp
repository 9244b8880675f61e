#include "factors/sum.h"

#include <cstddef>

#include "factors/leave_one_out.h"

namespace dma {

namespace {

struct Moments {
  double mean = 0;
  double variance = 0;
};

// The moments of c x. None at all for c = 0, where c^2 v would be 0 * inf for a uniform x; and a uniform x has no mean.
Moments moments(const Gaussian& x, double c) {
  if (c == 0) return {};
  if (x.is_point()) return {c * x.tau, 0};
  const double variance = 1 / x.rho;
  if (std::isinf(variance)) return {0, kInfinity};
  return {c * (x.tau * variance), c * c * variance};
}

double coefficient(std::span<const double> coefficients, std::size_t j) {
  return coefficients.empty() ? 1.0 : coefficients[j];
}

// The message about x when c x has these moments.
Gaussian divided(const Moments& of_cx, double c) {
  const double precision = 1 / of_cx.variance;
  return closed(c * precision * of_cx.mean, c * precision * c, of_cx.mean / c);
}

}  // namespace

double Sum::value(std::span<const double> terms, std::span<const double> coefficients) {
  double total = 0;
  for (std::size_t j = 0; j < terms.size(); ++j) total += coefficient(coefficients, j) * terms[j];
  return total;
}

Gaussian Sum::to_total(std::span<const Gaussian> terms, std::span<const double> coefficients) {
  Moments total;
  for (std::size_t j = 0; j < terms.size(); ++j) {
    const Moments own = moments(terms[j], coefficient(coefficients, j));
    total.mean += own.mean;
    total.variance += own.variance;
  }
  return Gaussian::from_moments(total.mean, total.variance);
}

// z enters both sums like a term, the terms enter the mean with their sign turned. Infinite variances are counted, not
// added: inf - inf would lose the finite rest.
void Sum::to_terms(std::span<const Gaussian> terms, const Gaussian& total, std::span<const double> coefficients,
                   std::span<Gaussian> out) {
  const std::size_t count = terms.size();
  const auto term = [&](std::size_t k) {
    const Moments m = moments(terms[k], coefficient(coefficients, k));
    return Moments{-m.mean, m.variance};
  };
  const auto term_mean = [&](std::size_t k) { return term(k).mean; };
  const auto term_variance = [&](std::size_t k) { return term(k).variance; };
  const Moments z = moments(total, 1);

  LeaveOneOut mean, variance;
  std::size_t unknown = 0;
  const auto add = [&](const Moments& m) {
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
    const Moments own = term(j);
    const bool own_unknown = std::isinf(own.variance);
    if (c == 0 || unknown > (own_unknown ? 1u : 0u)) {
      out[j] = Gaussian::uniform();
      continue;
    }
    // If a variance is unknown here it is the own one, and it is in no sum.
    const auto add_means = [&] { return sum_of_others(j, count, term_mean, z.mean); };
    const auto add_variances = [&] { return sum_of_others(j, count, term_variance, z.variance); };
    const double others_mean = mean.without(own.mean, add_means);
    const double others_variance = variance.without(own_unknown ? 0 : own.variance, add_variances);
    out[j] = divided({others_mean, others_variance}, c);
  }
}

}  // namespace dma
