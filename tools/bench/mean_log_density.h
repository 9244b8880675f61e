// The mean log predictive density of all targets by a network of loops: forward(row of inputs) leaves the moments of what the
// last layer adds up in sum_mean and sum_variance.
#pragma once

#include <cstddef>
#include <vector>

#include "engine/messages/gaussian.h"

namespace dma::bench {

template <class Layer, class Forward>
double mean_log_density(const std::vector<Layer>& layers, double noise_variance, const std::vector<double>& inputs,
                        const std::vector<double>& targets, const Forward& forward) {
  const std::size_t in = layers.front().columns, out = layers.back().rows;
  double sum = 0;
  for (std::size_t n = 0; n * out < targets.size(); ++n) {
    forward(inputs.data() + n * in);
    for (std::size_t i = 0; i < out; ++i) {
      const double variance = layers.back().sum_variance[i] + noise_variance;
      sum += log_density(Gaussian::from_moments(layers.back().sum_mean[i], variance), targets[n * out + i]);
    }
  }
  return sum / static_cast<double>(targets.size());
}

}  // namespace dma::bench
