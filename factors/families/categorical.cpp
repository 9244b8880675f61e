#include "factors/families/categorical.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "engine/support/log_sum_exp.h"
#include "engine/support/text.h"

namespace dma {

namespace {

std::vector<double> logs_of(Components message) {
  std::vector<double> logs(message.size());
  Categorical::logs(message, logs.data());
  return logs;
}

// All -inf if every category is forbidden.
std::vector<double> log_probabilities(Components message) {
  std::vector<double> logs = logs_of(message);
  if (const double sum = log_sum_exp(logs); sum > -kInfinity)
    for (double& x : logs) x -= sum;
  return logs;
}

void write_probabilities(Components message, std::span<double> p) {
  Categorical::logs(message, p.data());
  if (std::ranges::max(p) == -kInfinity)
    std::ranges::fill(p, 0.0);
  else
    to_fractions(p);
}

}  // namespace

std::size_t Categorical::observe(std::span<const double> values, std::size_t components, double* tau, double* rho) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!(values[i] >= 0 && values[i] < static_cast<double>(components)) || values[i] != std::floor(values[i]))
      return i;
    for (std::size_t k = 0; k < components; ++k) {
      tau[i * components + k] = values[i] == static_cast<double>(k) ? 1.0 : 0.0;
      rho[i * components + k] = kInfinity;
    }
  }
  return values.size();
}

void Categorical::moments(Components messages, std::size_t components, double* means, double* variances) {
  for (std::size_t i = 0; i < messages.size(); i += components) {
    write_probabilities(messages.subspan(i, components), {means + i, components});
    for (std::size_t k = i; k < i + components; ++k) variances[k] = means[k] * (1 - means[k]);
  }
}

double Categorical::log_density(Components message, std::span<const double> value) {
  const double x = value[0];
  if (!(x >= 0 && x < static_cast<double>(message.size())) || x != std::floor(x)) return -kInfinity;
  return log_probabilities(message)[static_cast<std::size_t>(x)];
}

double Categorical::log_normaliser(Components message) { return log_sum_exp(logs_of(message)); }

double Categorical::kl(Components p, Components q) {
  const auto a = log_probabilities(p), b = log_probabilities(q);
  double sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k)
    if (const double fraction = std::exp(a[k]); fraction > 0) sum += fraction * (a[k] - b[k]);
  return sum;
}

std::string Categorical::text(Components message) {
  std::vector<double> p(message.size());
  write_probabilities(message, p);
  if (message[0].is_point()) return fmt::format("= {}", std::ranges::max_element(p) - p.begin());
  if (std::accumulate(p.begin(), p.end(), 0.0) == 0) return "impossible";
  return fmt::format("categorical({})", joined(p, ", ", "{:.4g}"));
}

void Categorical::from_logs(std::span<const double> logs, Natural* message) {
  for (const double log : logs)
    *message++ = log > -kInfinity ? CategoricalComponent(log, 0) : CategoricalComponent::forbidden();
}

void Categorical::send_logs(std::span<const double> logs, std::span<CategoricalComponent> out) {
  const double largest = std::ranges::max(logs);
  for (std::size_t k = 0; k < out.size(); ++k)
    out[k] = logs[k] > -kInfinity || largest == -kInfinity ? CategoricalComponent(logs[k] - largest, 0)
                                                           : CategoricalComponent::forbidden();
}

}  // namespace dma
