// A draw in a game: f(x) = 1 if |x| <= margin, 0 otherwise, for a difference x. EP message (method "ep"): with the
// arriving x ~ N(m, v), a = (-margin - m) / sqrt(v), b = (margin - m) / sqrt(v) and Z = Phi(b) - Phi(a), the Gaussian
// cut on both sides has, in units of sqrt(v) from m,
//
//   mean (phi(a) - phi(b)) / Z        variance 1 - mean^2 - (b phi(b) - a phi(a)) / Z
//
// always narrower than N(m, v), so the message is proper. If the window is narrow or far out, those differences cancel;
// the density is then integrated numerically from the window's nearer end. Evidence: Z.
#pragma once

#include "factors/authoring/tilted.h"

namespace dma {

struct Within {
  struct Parameters {
    double margin;
  };

  static Gaussian to_x(const Gaussian& x, Parameters p);
  static double log_density(double x, Parameters p) { return std::abs(x) <= p.margin ? 0 : -kInfinity; }
  static double log_integral(const Gaussian& x, Parameters p);
};

}  // namespace dma
