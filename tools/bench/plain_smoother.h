// The random walk x_0 ~ N(0, kFirstVariance), x_t = x_(t-1) + noise, y_t = x_t + noise by hand: what chains and smoothers
// are measured against.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

namespace dma::bench {

inline constexpr double kFirstVariance = 4, kStepVariance = 0.01, kReadingVariance = 0.25;

// Deterministic, and another phase gives other numbers everywhere.
inline std::vector<double> readings(std::size_t steps, double phase) {
  std::vector<double> y;
  for (std::size_t t = 0; t < steps; ++t)
    y.push_back(std::sin(0.01 * static_cast<double>(t) + phase) + 0.3 * std::cos(7.0 * static_cast<double>(t)));
  return y;
}

struct Moments {
  std::vector<double> mean, variance;

  explicit Moments(std::size_t steps) : mean(steps), variance(steps) {}
};

inline bool agree(const Moments& a, const Moments& b) {
  constexpr double kError = 1e-9;
  for (std::size_t t = 0; t < a.mean.size(); ++t)
    if (!(std::abs(a.mean[t] - b.mean[t]) <= kError && std::abs(a.variance[t] - b.variance[t]) <= kError)) return false;
  return true;
}

// Filter forward, keeping the filtered moments; then smooth backward in place: two divisions a step in all.
inline void smooth_plainly(const std::vector<double>& y, Moments& out) {
  double m = 0, v = kFirstVariance;
  for (std::size_t t = 0; t < y.size(); ++t) {
    if (t > 0) v += kStepVariance;
    const double gain = v / (v + kReadingVariance);
    m += gain * (y[t] - m);
    v *= 1 - gain;
    out.mean[t] = m;
    out.variance[t] = v;
  }
  for (std::size_t t = y.size() - 1; t-- > 0;) {
    const double predicted = out.variance[t] + kStepVariance, gain = out.variance[t] / predicted;
    m = out.mean[t] += gain * (m - out.mean[t]);
    v = out.variance[t] += gain * gain * (v - predicted);
  }
}

}  // namespace dma::bench
