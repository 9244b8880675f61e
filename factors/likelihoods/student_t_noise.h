// Noise with outliers: y = x + scale T, T Student-t distributed with d degrees of freedom; the scale is given, or
// exp(log_variance / 2) with a log variance that may be unknown,
//
//   f(x, y) = G((d + 1) / 2) / (G(d / 2) sqrt(pi d) scale) (1 + (y - x)^2 / (scale^2 d))^(-(d + 1) / 2).
//
// EP messages (method "ep") by quadrature over the difference, the only argument of f: u = y - x ~ N(my - mx, vx + vy)
// gets a message N(m, v), and x = y - u one of N(my - m, vy + v). Far from y, f is no longer log-concave; the message
// to u may then have to be replaced (tilted.h). An end with a uniform message is predicted if T has a variance: N(mx,
// vx + E[scale^2] d / (d - 2)).
#pragma once

#include "engine/kinds/message_loop.h"

namespace dma {

struct StudentTNoise {
  struct Parameters {
    double scale, degrees;
  };

  static GaussianOrFallback to_x(const Gaussian& x, const Gaussian& y, Parameters p);
  static GaussianOrFallback to_y(const Gaussian& x, const Gaussian& y, Parameters p);

  static double log_density(double x, double y, Parameters p);
  static double log_integral(const Gaussian& x, const Gaussian& y, Parameters p);
};

struct StudentTLogVariance {
  struct Parameters {
    double degrees;
  };

  static GaussianOrFallback to_x(const Gaussian& x, const Gaussian& z, const Gaussian& y, Parameters p);
  static GaussianOrFallback to_log_variance(const Gaussian& x, const Gaussian& z, const Gaussian& y, Parameters p);
  static GaussianOrFallback to_y(const Gaussian& x, const Gaussian& z, const Gaussian& y, Parameters p);
};

}  // namespace dma
