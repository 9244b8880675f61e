#include "factors/families/categorical.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "engine/support/log_sum_exp.h"

namespace dma {

namespace {

std::vector<double> logs_of(Lanes message) {
  std::vector<double> logs(message.size());
  Categorical::logs(message, logs.data());
  return logs;
}

// All -inf where every category is forbidden.
std::vector<double> log_probabilities(Lanes message) {
  std::vector<double> logs = logs_of(message);
  if (const double sum = log_sum_exp(logs); sum > -kInfinity)
    for (double& x : logs) x -= sum;
  return logs;
}

std::vector<double> probabilities(Lanes message) {
  std::vector<double> p = logs_of(message);
  if (std::ranges::max(p) == -kInfinity)
    std::ranges::fill(p, 0.0);
  else
    to_shares(p);
  return p;
}

}  // namespace

std::size_t Categorical::observe(std::span<const double> values, std::size_t lanes, double* tau, double* rho) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!(values[i] >= 0 && values[i] < static_cast<double>(lanes)) || values[i] != std::floor(values[i])) return i;
    for (std::size_t k = 0; k < lanes; ++k) {
      tau[i * lanes + k] = values[i] == static_cast<double>(k) ? 1.0 : 0.0;
      rho[i * lanes + k] = kInfinity;
    }
  }
  return values.size();
}

void Categorical::moments(Lanes messages, std::size_t lanes, double* means, double* variances) {
  for (std::size_t i = 0; i < messages.size(); i += lanes) {
    const auto p = probabilities(messages.subspan(i, lanes));
    for (std::size_t k = 0; k < lanes; ++k) means[i + k] = p[k], variances[i + k] = p[k] * (1 - p[k]);
  }
}

double Categorical::log_density(Lanes message, std::span<const double> value) {
  const double x = value[0];
  if (!(x >= 0 && x < static_cast<double>(message.size())) || x != std::floor(x)) return -kInfinity;
  return log_probabilities(message)[static_cast<std::size_t>(x)];
}

double Categorical::log_normaliser(Lanes message) { return log_sum_exp(logs_of(message)); }

double Categorical::kl(Lanes p, Lanes q) {
  const auto a = log_probabilities(p), b = log_probabilities(q);
  double sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k)
    if (const double share = std::exp(a[k]); share > 0) sum += share * (a[k] - b[k]);
  return sum;
}

std::string Categorical::text(Lanes message) {
  const auto p = probabilities(message);
  if (message[0].is_point()) return fmt::format("= {}", std::ranges::max_element(p) - p.begin());
  if (std::accumulate(p.begin(), p.end(), 0.0) == 0) return "impossible";
  return fmt::format("categorical({:.4g})", fmt::join(p, ", "));
}

}  // namespace dma
