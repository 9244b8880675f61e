#include "engine/gates/mixture.h"

#include <algorithm>

namespace dma {

bool mix(const Family& family, std::span<const double> weights, std::span<const Components> parts, Natural* out) {
  const std::size_t components = family.components();
  std::ranges::copy(parts[static_cast<std::size_t>(std::ranges::max_element(weights) - weights.begin())], out);
  if (std::ranges::all_of(parts, [&](Components part) { return std::ranges::equal(part, parts[0]); })) return true;
  if (family.outcomes() > 0) {
    std::vector<double> logs(family.outcomes(), -kInfinity);
    for (std::size_t i = 0; i < parts.size(); ++i)
      for (std::size_t k = 0; k < logs.size(); ++k) {
        const double value = static_cast<double>(k),
                     both[] = {logs[k], std::log(weights[i]) + family->log_density(parts[i], {&value, 1})};
        logs[k] = log_sum_exp(both);
      }
    family->from_logs(logs, out);
    return true;
  }
  if (std::ranges::any_of(parts, &is_flat)) {
    std::fill_n(out, components, Natural());
    return true;
  }
  if (family->from_moments == nullptr) return false;
  double total = 0;
  for (const double weight : weights) total += weight;
  std::vector<double> means(components), variances(components), mean(components), variance(components);
  for (const bool is_second : {false, true})
    for (std::size_t i = 0; i < parts.size(); ++i) {
      family->moments(parts[i], components, mean.data(), variance.data());
      for (std::size_t k = 0; k < components; ++k) {
        const double apart = mean[k] - means[k];
        (is_second ? variances : means)[k] += weights[i] / total * (is_second ? variance[k] + apart * apart : mean[k]);
      }
    }
  family->from_moments(means, variances, out);
  return true;
}

}  // namespace dma
