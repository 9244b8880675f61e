// The marginal of one variable of a factor by importance sampling: a reference that needs no integral.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "engine/certify/scenario.h"

namespace dma {

struct WeightedSamples {
  std::vector<double> x, weight;

  double effective() const;  // (sum w)^2 / sum w^2
  std::pair<double, double> quantiles(double low, double high) const;
  double mean() const;
  double variance() const;
};

// Draws every input from the message that arrives on it, passes the draw through the kind's function and weights it by
// the messages that arrive on the outputs (a density kind: draws all ports, weights by the density). Precondition: all
// arrivals proper or point masses; an output may be uniform.
WeightedSamples sample_marginal(const Kind& kind, const Scenario& scenario, std::size_t port, std::size_t term,
                                int count, std::uint64_t seed);

struct Histogram {
  double low = 0, high = 0;
  std::vector<double> fraction;  // one per bin, all equally wide; sums to 1

  double width() const { return (high - low) / static_cast<double>(fraction.size()); }
  double centre(std::size_t bin) const { return low + (static_cast<double>(bin) + 0.5) * width(); }
};
// Equal bins over the 0.1% to 99.9% quantiles.
Histogram histogram(const WeightedSamples& samples, std::size_t bins = 500);

// KL(histogram || q), q's mass in each bin renormalised to the range of the histogram. Finite samples bias it upwards
// by about (bins - 1) / (2 effective samples).
double kl(const Histogram& histogram, const Gaussian& q);
inline double histogram_floor(std::size_t bins, double effective) {
  return (static_cast<double>(bins) - 1) / (2 * effective);
}

}  // namespace dma
