// y = max(x1, x2). With x1, x2 Gaussian, s^2 = Var(x1 - x2), d = (m1 - m2) / s (Clark 1961):
//
//   E[y] = m2 + s (d Phi(d) + phi(d))      Cov(x_i, y) = Phi(d) Cov(x_i, x1) + Phi(-d) Cov(x_i, x2)
//
// so the gains of the best linear fit are Phi(d) and Phi(-d), the probabilities that each is the larger one. To y: the
// moments. To x1 and x2: linearised at the belief (belief_linearisation.h), always proper.
#pragma once

#include <algorithm>

#include "engine/kinds/linear_view.h"
#include "engine/messages/gaussian.h"

namespace dma {

struct Max {
  static double value(double x1, double x2) { return std::max(x1, x2); }
  static Gaussian to_y(const Gaussian& x1, const Gaussian& x2);
  static Gaussian to_x(const Gaussian& own, const Gaussian& other, const Gaussian& y);
  static void linear_view(const LinearCall& call);
};

}  // namespace dma
