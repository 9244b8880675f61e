// Square: y = x^2. A product factor of a variable with itself would treat its two arguments as independent. With x ~
// N(m, v) the moments of x^2 are
//
//  E = m^2 + v,    Var = 4 m^2 v + 2 v^2,    Cov(x, x^2) = 2 m v,
//
// so that the best linear fit is y = E + 2m (x - m) + e with Var e = 2 v^2. To y: the moments. To x: linearised at the
// belief (belief_linearisation.h), always proper, and uniform at m = 0, where both signs of x explain y equally well.
#pragma once

#include "engine/kinds/linear_view.h"
#include "engine/messages/gaussian.h"

namespace dma {

struct Square {
  static double value(double x) { return x * x; }

  // E[x^2] = m^2 + v, with the derivatives 2m and 1.
  static void linear_view(const LinearCall& call) {
    const double* const x = call.input(0);
    for (std::size_t s = 0; s < call.slots; ++s) {
      call.value[s] = x[s] * x[s] + (call.variances == nullptr ? 0 : call.variances[s]);
      if (call.gains != nullptr) call.gain(0)[s] = 2 * x[s];
      if (call.variance_gains != nullptr) call.variance_gains[s] = 1;
    }
  }

  static Gaussian to_y(const Gaussian& x) {
    if (x.is_uniform()) return Gaussian::uniform();
    const double m = x.mean(), v = x.variance(), square = m * m;
    return Gaussian::from_moments(square + v, 2 * v * (2 * square + v));
  }
  static Gaussian to_x(const Gaussian& x, const Gaussian& y);
};

}  // namespace dma
