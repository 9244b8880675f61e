// Durations: y ~ Weibull(shape k, scale exp(x)), of density (k / y) h exp(-h) with h = (y / exp(x))^k. What has not
// ended when the watch ends, at y, is censored: its density is the probability exp(-h) of lasting longer. With shape 1
// it is the exponential distribution of mean exp(x).
#pragma once

#include <span>

namespace dma {

class Kind;

struct Weibull {
  static double log_density(double x, double y, std::span<const double> shape_and_censored);
};

Kind weibull_kind();

}  // namespace dma
