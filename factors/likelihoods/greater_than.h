// Comparison with a number: f(x) = 1 if x > threshold, 0 otherwise. To compare two variables, apply it to their
// difference (a sum with coefficients 1 and -1).
//
// EP message (method "ep"): with the arriving x ~ N(m, v), u = (m - threshold) / sqrt(v), h = phi(u) / Phi(u) and t = 1
// - h (h + u), the cut Gaussian has mean m + sqrt(v) h and variance v t, hence
//
//   to x    rho = h (h + u) / (v t)        tau = h (sqrt(v) + m (h + u)) / (v t)
//
// always proper. The message to a point mass is uniform. Evidence: the integral of f is Phi(u).
#pragma once

#include "engine/messages/gaussian.h"

namespace dma {

struct GreaterThan {
  struct Parameters {
    double threshold;
  };

  static Gaussian to_x(const Gaussian& x, Parameters p);
  static double log_density(double x, Parameters p) { return x > p.threshold ? 0 : -kInfinity; }
  static double log_integral(const Gaussian& x, Parameters p);
};

}  // namespace dma
