// y = a x + b with numbers a and b: f(x, y) = delta(y - a x - b). Both messages are exact: to y N(a m + b, a^2 v), to x
// N((m - b) / a, v / a^2). With a = 0, y is b for every x, and the message to x is uniform.
#pragma once

#include "engine/kinds/linear_view.h"
#include "engine/messages/gaussian.h"

namespace dma {

// The message of x + by, given that of x.
inline Gaussian shifted(const Gaussian& x, double by) {
  if (x.is_uniform()) return x;
  if (x.is_point()) return closed(x.tau + by, kInfinity, x.tau + by);
  return closed(x.tau + by * x.rho, x.rho, [&] { return x.mean() + by; });
}

struct Affine {
  struct Parameters {
    double a, b;
  };

  static double value(double x, Parameters p) { return p.a * x + p.b; }

  static Gaussian to_y(const Gaussian& x, Parameters p) { return shifted(scaled(x, p.a), p.b); }
  static Gaussian to_x(const Gaussian& y, Parameters p) {
    const Gaussian ax = shifted(y, -p.b);
    if (p.a == 0 || ax.is_uniform()) return Gaussian::uniform();
    if (ax.is_point()) return closed(ax.tau / p.a, kInfinity, ax.tau / p.a);
    return closed(p.a * ax.tau, p.a * ax.rho * p.a, [&] { return ax.mean() / p.a; });
  }

  static void linear_view(const LinearCall& call);
};

}  // namespace dma
