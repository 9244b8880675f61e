#include "factors/families/dirichlet.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "engine/support/special_functions.h"
#include "engine/support/text.h"

namespace dma {

namespace {

double total(Components message) {
  double sum = 0;
  for (const Natural& m : message) sum += m.tau + 1;
  return sum;
}

bool are_probabilities(std::span<const double> values) {
  constexpr double kRounding = 1e-9;
  double sum = 0;
  for (const double x : values) {
    if (!(x > 0)) return false;
    sum += x;
  }
  return std::abs(sum - 1) <= kRounding;
}

}  // namespace

bool Dirichlet::is_proper(Components message) {
  return std::ranges::all_of(message, [](const Natural& m) { return m.rho == 0 && m.tau > -1; });
}

std::size_t Dirichlet::observe(std::span<const double> values, std::size_t components, double* tau, double* rho) {
  for (std::size_t i = 0; i < values.size(); i += components) {
    if (!are_probabilities(values.subspan(i, components))) return i / components;
    std::ranges::copy(values.subspan(i, components), tau + i);
    std::fill_n(rho + i, components, kInfinity);
  }
  return values.size() / components;
}

void Dirichlet::moments(Components messages, std::size_t components, double* means, double* variances) {
  for (std::size_t i = 0; i < messages.size(); i += components) {
    const Components message = messages.subspan(i, components);
    const double sum = total(message);
    for (std::size_t k = 0; k < components; ++k) {
      const bool proper = is_proper(message), point = message[k].is_point();
      const double mean = (message[k].tau + 1) / sum;
      means[i + k] = point ? message[k].tau : proper ? mean : 0.0;
      variances[i + k] = point ? 0.0 : proper ? mean * (1 - mean) / (sum + 1) : kInfinity;
    }
  }
}

double Dirichlet::log_density(Components message, std::span<const double> value) {
  if (!are_probabilities(value)) return -kInfinity;
  if (message[0].is_point())
    return std::ranges::equal(message, value, {}, &Natural::tau) ? kInfinity : -kInfinity;
  if (!is_proper(message)) return -kInfinity;
  double sum = -log_normaliser(message);
  for (std::size_t k = 0; k < value.size(); ++k) sum += message[k].tau * std::log(value[k]);
  return sum;
}

double Dirichlet::log_normaliser(Components message) {
  if (!is_proper(message)) return kInfinity;
  double sum = -log_gamma(total(message));
  for (const Natural& m : message) sum += log_gamma(m.tau + 1);
  return sum;
}

// With s the sum of the a_k, m_k = (a_k + r_k) / (s + 1), G = sum of m_k (1 - m_k) and R = sum of r_k (1 - r_k), the
// sum of the variances is (G + R / (s + 1)) / (s + 2), so nothing cancels in
//
//   r_k - (a_k + r_k) (s + 2) / (s + 1) d,   d = R / ((s + 1) G + R)
bool Dirichlet::project(std::span<const double> counts, std::span<const double> shares, std::span<double> gains) {
  const double s = std::accumulate(counts.begin(), counts.end(), 0.0);
  const auto largest = static_cast<std::size_t>(std::ranges::max_element(counts) - counts.begin());
  double of_others = 0, spread = 0, doubt = 0;
  for (std::size_t k = 0; k < counts.size(); ++k) {
    const double mean = (counts[k] + shares[k]) / (s + 1);
    doubt += shares[k] * (1 - shares[k]);
    if (k != largest) {
      of_others += mean;
      spread += mean * (1 - mean);
    }
  }
  spread += (counts[largest] + shares[largest]) / (s + 1) * of_others;
  const double d = doubt > 0 ? doubt / ((s + 1) * spread + doubt) * ((s + 2) / (s + 1)) : 0;
  for (std::size_t k = 0; k < counts.size(); ++k) {
    gains[k] = shares[k] - (counts[k] + shares[k]) * d;
    if (!((counts[k] - 1) + gains[k] > -1)) return false;  // the same rounding as in multiply()
  }
  return true;
}

double Dirichlet::kl(Components p, Components q) {
  if (std::ranges::equal(p, q)) return 0;
  if (!is_proper(p) || !is_proper(q)) return kInfinity;
  const double of_total = digamma(total(p));
  double sum = log_normaliser(q) - log_normaliser(p);
  for (std::size_t k = 0; k < p.size(); ++k)
    sum += (p[k].tau - q[k].tau) * (digamma(p[k].tau + 1) - of_total);
  return sum;
}

void Dirichlet::from_moments(std::span<const double> means, std::span<const double> variances, Natural* message) {
  double spread = 0, variance = 0;
  for (std::size_t k = 0; k < means.size(); ++k) {
    spread += means[k] * (1 - means[k]);
    variance += variances[k];
  }
  for (std::size_t k = 0; k < means.size(); ++k) message[k] = {means[k] * (spread / variance - 1) - 1, 0};
}

std::string Dirichlet::text(Components message) {
  std::vector<double> numbers;
  for (const Natural& m : message) numbers.push_back(m.is_point() ? m.tau : m.tau + 1);
  if (message[0].is_point()) return fmt::format("= ({})", joined(numbers, ", ", "{:.4g}"));
  return fmt::format("dirichlet({})", joined(numbers, ", ", "{:.4g}"));
}

}  // namespace dma
