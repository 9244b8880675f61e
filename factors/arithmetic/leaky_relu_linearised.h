// Leaky rectifier, linearised: under the message N(m, v) from x, u = m / sqrt(v), the best linear fit of y is
//
//  y = mY + A (x - m) + e,    A = Cov(x, y) / v = slope + (1 - slope) Phi(u),
//                             Var e = v (1 - slope)^2 (g(u) - Phi(u)^2)
//
// with mY of Prop. 3.4 and g of normal.h; g(u) - Phi(u)^2 is even in u, and free of cancellation at u = -|u|. Messages
// are those of the linear factor: always proper. Towards y they equal Prop. 3.4; to x the mean is m + (my - mY) / A and
// the variance (vy + Var e) / A^2. Stein's identity, Cov(x, y) = v E[y'(x)], replaces a difference of large numbers:
//
//  mY - A m = (1 - slope) sqrt(v) phi(u)
//
// `dma fit` and the Gaussian learners use linear_view() below, not the messages of leaky_relu.h.
#pragma once

#include "engine/kinds/linear_view.h"
#include "factors/arithmetic/leaky_relu.h"

namespace dma {

struct LeakyReluLinearised {
  using Parameters = LeakyRelu::Parameters;

  static Gaussian to_y(const Gaussian& x, Parameters p) { return LeakyRelu::to_y(x, p); }
  static Gaussian to_x(const Gaussian& x, const Gaussian& y, Parameters p);

  // mY, A = dmY/dm and dmY/dv = (1 - slope) phi(u) / (2 sqrt(v)). For v = 0 it is the function itself, with the slope
  // of the negative side at 0.
  static void linear_view(const LinearCall& call);
};

}  // namespace dma
