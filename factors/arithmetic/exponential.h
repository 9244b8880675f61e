// y = exp(x). With x ~ N(m, v): E = exp(m + v/2), Var = E^2 (exp(v) - 1), Cov(x, y) = E v, so that the best linear fit
// is
//
//   y = E + E (x - m) + e,      Var e = E^2 (exp(v) - 1 - v).
//
// To y: the moments. To x: linearised where the belief is (belief_linearisation.h), always proper. (A positive quantity
// whose messages should be log-normal themselves is a log_normal variable, and log_copy.)
#pragma once

#include "engine/kinds/linear_view.h"
#include "engine/messages/gaussian.h"

namespace dma {

struct Exponential {
  static double value(double x) { return std::exp(x); }
  static double excess(double v);  // exp(v) - 1 - v, accurate for small v
  static Gaussian to_y(const Gaussian& x);
  static Gaussian to_x(const Gaussian& x, const Gaussian& y);
  static void linear_view(const LinearCall& call);
};

}  // namespace dma
