// Addition of two variables: f(x, y, z) = delta(z - x - y). All messages are exact; means and variances add or subtract.
#pragma once

#include "engine/gaussian.h"

namespace dma {

struct Add {
  static double value(double x, double y) { return x + y; }

  static Gaussian to_z(const Gaussian& x, const Gaussian& y) {
    return Gaussian::from_moments(x.mean() + y.mean(), x.variance() + y.variance());
  }
  // To x given y, or to y given x.
  static Gaussian to_term(const Gaussian& other, const Gaussian& z) {
    return Gaussian::from_moments(z.mean() - other.mean(), z.variance() + other.variance());
  }
};

}  // namespace dma
