// Counts: y ~ Poisson(exposure exp(x)), f(x, y) = exp(y (x + log exposure) - exposure exp(x)) / y!
#pragma once

#include <cmath>
#include <limits>
#include <span>

#include "factors/families/log_gamma.h"

namespace dma {

class Kind;

struct Poisson {
  static double log_density(double x, double y, std::span<const double> exposure) {
    if (!(y >= 0) || y != std::floor(y)) return -std::numeric_limits<double>::infinity();  // no count
    const double log_rate = x + std::log(exposure[0]);
    return y * log_rate - std::exp(log_rate) - log_gamma(y + 1);
  }
};

Kind poisson_kind();

}  // namespace dma
