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

}  // namespace

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
