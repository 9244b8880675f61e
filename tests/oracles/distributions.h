// Distributions by their formulas, sums and integrals.
#pragma once

#include <cmath>
#include <numbers>

namespace dma::oracle {

inline double normal_below(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }

inline double poisson(double rate, double y) { return std::exp(y * std::log(rate) - rate - std::lgamma(y + 1)); }
inline double binomial(double trials, double p, double y) {
  return std::exp(std::lgamma(trials + 1) - std::lgamma(y + 1) - std::lgamma(trials - y + 1)) * std::pow(p, y) *
         std::pow(1 - p, trials - y);
}
// y failures before `shape` successes, each a success with probability p.
inline double negative_binomial(double shape, double p, double y) {
  return std::exp(std::lgamma(y + shape) - std::lgamma(shape) - std::lgamma(y + 1)) * std::pow(p, shape) *
         std::pow(1 - p, y);
}
// The probabilities of all counts up to y. Below the mean the sum ends where they are negligible.
template <class Probability>
double counts_to(double y, double mean, const Probability& probability) {
  double sum = 0;
  for (double k = y; k >= 0; --k) {
    const double p = probability(k);
    sum += p;
    if (k < mean && p < 1e-18 * sum) break;
  }
  return sum;
}

inline double weibull_above(double shape, double scale, double y) { return std::exp(-std::pow(y / scale, shape)); }
inline double weibull(double shape, double scale, double y) {
  return shape / scale * std::pow(y / scale, shape - 1) * weibull_above(shape, scale, y);
}

// Student's t at x = sqrt(degrees) tan(angle) is c cos(angle)^(degrees + 1) / sqrt(degrees), which leaves cos^(degrees
// - 1) to integrate over the angle, by Simpson's rule.
inline double student_constant(double degrees) {
  return std::exp(std::lgamma(0.5 * degrees + 0.5) - std::lgamma(0.5 * degrees)) / std::sqrt(std::numbers::pi);
}
inline double student(double degrees, double x) {
  return student_constant(degrees) / std::sqrt(degrees) * std::pow(1 + x * x / degrees, -0.5 * (degrees + 1));
}
inline double student_below(double degrees, double x) {
  constexpr int kIntervals = 200;
  const double step = std::atan(x / std::sqrt(degrees)) / kIntervals;
  double sum = 0;
  for (int i = 0; i <= kIntervals; ++i)
    sum += (i == 0 || i == kIntervals ? 1 : i % 2 == 0 ? 2 : 4) * std::pow(std::cos(i * step), degrees - 1);
  return 0.5 + student_constant(degrees) * step / 3 * sum;
}

// The argument at which a rising function equals p, between -100 and 100.
template <class Below>
double quantile(const Below& below, double p) {
  double low = -100, high = 100;
  for (int halving = 0; halving < 100; ++halving) {
    const double middle = 0.5 * (low + high);
    (below(middle) < p ? low : high) = middle;
  }
  return high;
}

}  // namespace dma::oracle
