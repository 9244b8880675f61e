// Gaussian prior: f(x) = N(x; mean, variance). The message is the factor itself: exact, whatever arrives.
#pragma once

#include "engine/messages/gaussian.h"

namespace dma {

struct GaussianPrior {
  struct Parameters {
    double mean;
    double variance;  // in [0, inf]: 0 clamps x to the mean, inf says nothing
  };

  static Gaussian to_x(Parameters p) { return Gaussian::from_moments(p.mean, p.variance); }
};

}  // namespace dma
