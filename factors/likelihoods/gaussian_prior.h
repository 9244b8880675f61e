// Gaussian prior: f(x) = N(x; mean, variance). The message is the factor itself: exact.
#pragma once

#include "engine/messages/gaussian.h"

namespace dma {

class Kind;

struct GaussianPrior {
  struct Parameters {
    double mean;
    double variance;  // in [0, inf]: 0 fixes x at the mean, inf is uniform
  };

  static Gaussian to_x(Parameters p) { return Gaussian::from_moments(p.mean, p.variance); }

  static void row(const RowCall& call);  // x - mean
};

Kind gaussian_prior_density();  // without messages: for joint()

}  // namespace dma
