// Medians with their uncertainty.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace dma::reproduce {

double median(const std::vector<double>& values);
// Third quartile less first.
double interquartile_range(const std::vector<double>& values);
double mean(const std::vector<double>& values);

struct Interval {
  double low = 0, high = 0;
  bool holds(double value) const { return low <= value && value <= high; }
  bool meets(const Interval& other) const { return low <= other.high && other.low <= high; }
  std::string text() const;  // "0.40 to 1.80"
};

// Central 95 % of the medians of `draws` resamples with replacement: what other seeds could have given.
Interval median_interval(const std::vector<double>& values, int draws = 2000, std::uint64_t seed = 1);

// "0.97 [0.40, 1.80]".
std::string median_text(const std::vector<double>& values);

}  // namespace dma::reproduce
