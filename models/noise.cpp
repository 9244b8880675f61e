#include "models/noise.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace dma {

namespace {

// Derivative of the log-likelihood by b, times 2: positive where more noise explains the residuals better.
double slope(std::span<const double> squares, std::span<const double> variances, double b) {
  double sum = 0;
  for (std::size_t n = 0; n < squares.size(); ++n) {
    const double total = variances[n] + b;
    sum += (squares[n] - total) / (total * total);
  }
  return sum;
}

double mixture_log_likelihood(std::span<const ComponentPredictions> components, std::span<const double> targets, double b) {
  double sum = 0;
  std::vector<double> logs(components.size());
  for (std::size_t n = 0; n < targets.size(); ++n) {
    for (std::size_t k = 0; k < components.size(); ++k) {
      const double variance = components[k].variances[n] + b, off = targets[n] - components[k].means[n];
      logs[k] = -0.5 * (std::log(variance) + off * off / variance);
    }
    const double highest = *std::ranges::max_element(logs);
    double mass = 0;
    for (const double l : logs) mass += std::exp(l - highest);
    sum += highest + std::log(mass);
  }
  return sum;
}

}  // namespace

double most_likely_mixture_noise(std::span<const ComponentPredictions> components, std::span<const double> targets,
                                 double smallest, double largest) {
  constexpr double kGolden = 0.6180339887498949;
  constexpr int kSteps = 40;  // shrinks the bracket to 4e-9 of its size
  double low = std::log(smallest), high = std::log(largest);
  double left = high - kGolden * (high - low), right = low + kGolden * (high - low);
  const auto value = [&](double log_b) { return mixture_log_likelihood(components, targets, std::exp(log_b)); };
  double at_left = value(left), at_right = value(right);
  for (int step = 0; step < kSteps; ++step) {
    if (at_left < at_right) {
      low = left, left = right, at_left = at_right;
      right = low + kGolden * (high - low), at_right = value(right);
    } else {
      high = right, right = left, at_right = at_left;
      left = high - kGolden * (high - low), at_left = value(left);
    }
  }
  return std::exp(0.5 * (low + high));
}

double most_likely_noise(std::span<const double> squared_residuals, std::span<const double> variances, double smallest) {
  const double largest = std::max(smallest, *std::ranges::max_element(squared_residuals));
  double low = std::log(smallest), high = std::log(largest);
  // 60 halvings leave less than one ulp of log b. Beyond the largest squared residual more noise never helps.
  for (int step = 0; step < 60; ++step) {
    const double middle = 0.5 * (low + high);
    (slope(squared_residuals, variances, std::exp(middle)) > 0 ? low : high) = middle;
  }
  return std::exp(0.5 * (low + high));
}

}  // namespace dma
