// Gaussian prior: f(x) = N(x; mean, variance). The message is the factor itself: exact, whatever arrives.
#pragma once

#include "engine/kinds/linear_view.h"
#include "engine/messages/gaussian.h"

namespace dma {

class Kind;

struct GaussianPrior {
  struct Parameters {
    double mean;
    double variance;  // in [0, inf]: 0 clamps x to the mean, inf says nothing
  };

  static Gaussian to_x(Parameters p) { return Gaussian::from_moments(p.mean, p.variance); }

  static void row(const RowCall& call);  // x - mean
};

Kind gaussian_prior_kind();

}  // namespace dma
