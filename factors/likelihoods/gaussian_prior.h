// Gaussian prior: f(x) = N(x; mean, variance). The message is the factor itself: exact, whatever arrives.
#pragma once

#include "engine/kinds/linear_view.h"
#include "engine/messages/gaussian.h"

namespace dma {

struct GaussianPrior {
  struct Parameters {
    double mean;
    double variance;  // in [0, inf]: 0 clamps x to the mean, inf says nothing
  };

  static Gaussian to_x(Parameters p) { return Gaussian::from_moments(p.mean, p.variance); }

  // x - mean
  static void row(const RowCall& call) {
    for (std::size_t s = 0; s < call.slots; ++s) {
      const ParameterRow p = call.parameter_row(s);
      call.coefficients[s] = 1;
      call.offset[s] = p.number(0);
      call.variance[s] = p.number(1);
    }
  }
};

}  // namespace dma
