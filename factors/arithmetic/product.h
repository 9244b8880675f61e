// Product factor: f(x, y, z) = delta(z - x y).
//
// In natural parameters both messages depend on the squared signal-to-noise ratio of each incoming message,
//
//   p = mean^2 / variance = tau^2 / rho                0 for the uniform message, inf for a point mass.
//
// To z (Prop. 3.1): mean mx my, variance vx vy + mx^2 vy + my^2 vx = vx vy (1 + px + py), hence
//
//   tau = tau_x tau_y / (1 + px + py)                  rho = rho_x rho_y / (1 + px + py).
//
// To x (Prop. 3.2, and to y by symmetry): y and z are replaced by log-normals of the same moments, whose ratio is again
// log-normal; x takes its moments. With s = py/(1 + py) = my^2/(my^2 + vy) in [0, 1] the mean is mz / (s my), and
//
//   tau = s (s my) tau_z / (1 + (1 - s) pz)            rho = s (s my)^2 rho_z / (1 + (1 - s) pz).
//
// All terms are non-negative, so the precision is. my = 0 gives s = 0: uniform. z uniform gives uniform. The exact
// message to x is not normalisable, and Z/Y has no mean: the log-normal step is what makes the message proper.
#pragma once

#include <algorithm>

#include "engine/kinds/block_loop.h"
#include "engine/kinds/linear_view.h"
#include "engine/messages/gaussian.h"

namespace dma {

struct Product {
  static double value(double x, double y) { return x * y; }

  static Gaussian to_z(const Gaussian& x, const Gaussian& y);

  // To x given y, or to y given x: `other` is the message of the other input.
  static Gaussian to_factor(const Gaussian& other, const Gaussian& z);

  // mean^2 / variance of a message that is no point mass. Capped so that 1 + px + py cannot overflow: at the cap the
  // message locates its variable to 150 digits.
  static double signal_to_noise(const Gaussian& g) {
    constexpr double kLargest = 0.25 * std::numeric_limits<double>::max();
    return g.is_uniform() ? 0.0 : std::min(g.tau / g.rho * g.tau, kLargest);
  }

  // The expectation of x y under independent x and y is the product of the means, so smoothing changes nothing.
  static void linear_view(const LinearCall& call);
  // True if one of the two is known.
  static bool linear_in(std::span<const std::uint8_t> free) { return !free[0] || !free[1]; }

  // The same for blocks of slots whose messages are all within some 20 powers of ten of 1, or in which one factor is
  // always known.
  static bool block_to_z(const SlotBlock& block);       // reads x, y
  static bool block_to_factor(const SlotBlock& block);  // reads other, z
};

inline Gaussian Product::to_z(const Gaussian& x, const Gaussian& y) {
  if (x.is_point()) return scaled(y, x.tau);
  if (y.is_point()) return scaled(x, y.tau);
  const double fraction = 1 / (1 + signal_to_noise(x) + signal_to_noise(y));
  return closed(x.tau * fraction * y.tau, x.rho * fraction * y.rho, [&] { return x.mean() * y.mean(); });
}

inline Gaussian Product::to_factor(const Gaussian& other, const Gaussian& z) {
  if (other.is_uniform() || other.tau == 0) return Gaussian::uniform();
  if (other.is_point()) {  // x = z / c, exactly
    const double c = other.tau;
    if (z.is_point()) return closed(z.tau / c, kInfinity, z.tau / c);
    return closed(z.tau * c, z.rho * c * c, [&] { return z.mean() / c; });
  }
  const double p = signal_to_noise(other);
  const double rest = 1 / (1 + p);               // 1 - s
  const double s = p > 1 ? 1 - rest : p * rest;  // each form where it does not cancel
  const double divisor = s * other.mean();       // x is about z / divisor
  // A point mass z is the limit rho_z -> inf of the general case: (1 - s) pz dominates 1, and s / (1 - s) = p.
  if (z.is_point())
    return closed(p * divisor / z.tau, p * (divisor / z.tau) * (divisor / z.tau), [&] { return z.tau / divisor; });
  const double gain = s / (1 + rest * signal_to_noise(z)) * divisor;
  return closed(gain * z.tau, gain * divisor * z.rho, [&] { return z.mean() / divisor; });
}

}  // namespace dma
