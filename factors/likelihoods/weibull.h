// Durations: y ~ Weibull(shape k, scale exp(x)), with density (k / y) h exp(-h), h = (y / exp(x))^k. A duration that
// had not ended when observation ended, at y, is censored: its density is the survival probability exp(-h). With shape
// 1 it is the exponential distribution of mean exp(x).
#pragma once

#include <span>

namespace dma {

struct Weibull {
  static double log_density(double x, double y, std::span<const double> shape_and_censored);
};

}  // namespace dma
