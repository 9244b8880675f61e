// Probit likelihood: f(x, y) = Phi(x) if y > 0, Phi(-x) otherwise. Outcomes may be coded {-1, 1} or {0, 1}.
//
// EP messages (method "ep") in closed form. With the arriving x ~ N(m, v), u = m / sqrt(1 + v), and y sharp (turn the
// signs of u and tau for y <= 0), h = phi(u) / Phi(u) and t = 1 - h (h + u), the variance of N(0, 1) cut at u:
//
//   to x    rho = h (h + u) / (1 + v t)        tau = h (sqrt(1 + v) + m (h + u)) / (1 + v t)
//
// without subtracting nearly equal numbers. If y itself is uncertain, f = q + (p - q) Phi(x) with p and q the
// probabilities of y > 0 and y <= 0; to y the same with a step instead of Phi. If no proper message has both moments,
// the mean is kept (tilted.h). Evidence: the integral of f is Phi(u), or q + (p - q) Phi(u).
#pragma once

#include "engine/kinds/message_loop.h"

namespace dma {

struct Probit {
  static GaussianOrFallback to_x(const Gaussian& x, const Gaussian& y);
  static GaussianOrFallback to_y(const Gaussian& x, const Gaussian& y);

  // P(y > 0) under the belief of x.
  static double probability(const Gaussian& x);
  static double log_density(double x, double y);
  static double log_integral(const Gaussian& x, const Gaussian& y);
};

}  // namespace dma
