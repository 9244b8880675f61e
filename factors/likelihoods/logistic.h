// Logistic likelihood: f(x, y) = 1 / (1 + exp(-x)) if y > 0, 1 / (1 + exp(x)) otherwise. Outcomes may be coded {-1, 1}
// or {0, 1}.
#pragma once

#include <cmath>

namespace dma {

struct Logistic {
  static double log_density(double x, double y) {
    const double against = y > 0 ? -x : x;  // log(1 + exp(a)) = max(a, 0) + log(1 + exp(-|a|)) overflows for no a
    return -std::fmax(against, 0.0) - std::log1p(std::exp(-std::abs(against)));
  }
};

}  // namespace dma
