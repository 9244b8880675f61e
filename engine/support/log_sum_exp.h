// Sums of exponentials without intermediate overflow.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>

namespace dma {

// log(exp(logs[0]) + exp(logs[1]) + ...); -inf for an empty list or only zeros.
inline double log_sum_exp(std::span<const double> logs) {
  if (logs.empty()) return -HUGE_VAL;
  const double largest = *std::ranges::max_element(logs);
  if (!std::isfinite(largest)) return largest;
  double sum = 0;
  for (const double l : logs) sum += std::exp(l - largest);
  return largest + std::log(sum);
}

// Divides exp(log) by their sum, in place. Infinite logs share the whole equally.
inline void to_fractions(std::span<double> logs) {
  const double largest = *std::ranges::max_element(logs);
  double sum = 0;
  for (double& x : logs) sum += x = x == largest ? 1.0 : std::exp(x - largest);
  for (double& x : logs) x /= sum;
}

}  // namespace dma
