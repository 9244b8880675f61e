// Gaussian noise: f(x, y) = N(y; x, variance). Both messages are exact: the convolution of the incoming one with the
// noise,
//
//   N(m, v) -> N(m, v + variance):    tau / (1 + rho variance),    rho / (1 + rho variance),
//
// which needs no special case for variance 0 (identity) or the uniform message.
#pragma once

#include "engine/messages/gaussian.h"

namespace dma {

class Kind;

struct GaussianNoise {
  struct Parameters {
    double variance;  // in [0, inf]
  };

  static Gaussian to_y(const Gaussian& x, Parameters p) { return blurred(x, p.variance); }
  static Gaussian to_x(const Gaussian& y, Parameters p) { return blurred(y, p.variance); }

  static void row(const RowCall& call);  // y - x

 private:
  // If rho variance overflows, as for a point mass, v + variance equals variance to every digit.
  static Gaussian blurred(const Gaussian& g, double variance) {
    const double widening = 1 + g.rho * variance;
    if (g.is_point() || widening == kInfinity) return Gaussian::from_moments(g.mean(), variance);
    const double fraction = 1 / widening;  // one division for both: each message of a chain waits for the one before
    const double tau = g.tau * fraction, rho = g.rho * fraction;
    if (rho > 0 && rho < kInfinity && std::abs(tau) < kInfinity) [[likely]] return {tau, rho};
    return closed_elsewhere(tau, rho, g.mean());
  }
  // Not inlined: inlining it would cost a chain of messages a tenth of its time.
  [[gnu::cold]] static Gaussian closed_elsewhere(double tau, double rho, double mean);
};

Kind gaussian_noise_density();  // without messages: for joint()

}  // namespace dma
