// Leaky rectifier by expectation propagation: the moments of the marginal, divided by the message that arrives on the same
// edge. With messages N(mx, vx), N(my, vy) the marginal of x has two pieces, each a cut Gaussian:
//
//   x > 0:   N(x; mx, vx) N(x; my, vy)          mass  N(mx; my, vx + vy) Phi(m1 / s1)
//   x <= 0:  N(x; mx, vx) N(slope x; my, vy)    mass  N(slope mx; my, slope^2 vx + vy) Phi(-m2 / s2)
//
// The quotient may have negative precision: it is returned as it is, to be refused and counted by whoever stores it.
// `to_x_or_linearised` takes the linearised message instead.
#pragma once

#include "factors/leaky_relu.h"

namespace dma {

struct LeakyReluEp {
  using Parameters = LeakyRelu::Parameters;

  static Gaussian to_y(const Gaussian& x, const Gaussian& y, Parameters p);
  static Gaussian to_x(const Gaussian& x, const Gaussian& y, Parameters p);
  static Gaussian to_x_or_linearised(const Gaussian& x, const Gaussian& y, Parameters p);
};

}  // namespace dma
