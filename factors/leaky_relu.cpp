#include "factors/leaky_relu.h"

#include "factors/normal.h"

namespace dma {

// Prop. 3.4 with a the slope and lengths in units of the incoming standard deviation: X = u + N(0, 1), and
//
//   Y = X + (1 - a) max(0, -X)         read for u >= 0
//     = a X + (1 - a) max(0, X)        read for u <  0
//
// so that only a rectified tail of probability p = Phi(-|u|) <= 1/2, mean r and variance g is ever added to a linear
// map. With Cov(X, max(0, X)) = Phi(u) and Cov(X, max(0, -X)) = -Phi(-u):
//
//   u >= 0   mean = u + (1 - a) r      variance = 1 - 2 (1 - a) p + (1 - a)^2 g
//   u <  0   mean = a u + (1 - a) r    variance = a^2 + 2 a (1 - a) p + (1 - a)^2 g
//
// The one subtraction is harmless: its result is at least 1 - 2p + g >= 0.34.
Gaussian LeakyRelu::to_y(const Gaussian& x, Parameters parameters) {
  const double a = parameters.slope;
  if (a == 1 || x.is_uniform()) return x;
  if (x.is_point()) return Gaussian::point(value(x.tau, parameters));
  const double root = std::sqrt(x.rho), sd = 1 / root;
  const double u = x.tau * sd;
  if (std::abs(u) > normal::kOneSided) return u > 0 ? x : scaled(x, a);

  const normal::Tail beyond = normal::tail(std::abs(u));
  const double bend = 1 - a;
  const double p = beyond.probability;
  const double bent_mean = bend * p * beyond.excess;
  const double bent_variance = bend * bend * normal::rectified_variance(beyond);
  const double mean = (u < 0 ? a * u : u) + bent_mean;
  const double variance = (u < 0 ? a * a + 2 * a * bend * p : 1 - 2 * bend * p) + bent_variance;
  const double gain = 1 / variance;
  return closed(mean * gain * root, x.rho * gain, mean * sd);
}

// Prop. 3.5. The exact message is N(x; m, v) on x > 0 and N(a x; m, v) on x < 0: a mixture of two truncated Gaussians
// with weights proportional to a Phi(w) and Phi(-w), w = m / sqrt(v). In units of sqrt(v), and for x = |w|, the piece
// on the side of the mean (`near`) has probability 1 - p, distance x + h from the kink and variance 1 - h (h + x), h =
// phi(x)/(1 - p); the other (`far`) is the upper tail beyond x: probability p, distance `excess` from the kink.
// Distances and variances of the negative piece are divided by a and a^2. The mixture's variance is
//
//   weight+ var+ + weight- var- + weight+ weight- (distance between the means)^2.
//
// Beyond kOneSided the far piece has weight < 1e-349 / a, and nothing that a^-2 could restore for a > 1e-100.
Gaussian LeakyRelu::to_x(const Gaussian& y, Parameters parameters) {
  const double a = parameters.slope;
  if (a == 1 || y.is_uniform()) return y;
  if (y.is_point()) return closed(inverse(y.tau, parameters), kInfinity, inverse(y.tau, parameters));
  const double root = std::sqrt(y.rho);
  const double w = y.tau / root;
  const double x = std::abs(w);
  if (x > normal::kOneSided) return w > 0 ? y : scaled(y, 1 / a);

  struct Piece {
    double probability, distance, variance;
  };
  const normal::Tail beyond = normal::tail(x);
  const double body = 1 - beyond.probability;
  const double h = beyond.density / body;
  const Piece near{body, x + h, 1 - h * (h + x)};
  const Piece far{beyond.probability, beyond.excess, beyond.variance};
  const Piece& positive = w < 0 ? far : near;
  const Piece& negative = w < 0 ? near : far;

  const double mass = a * positive.probability + negative.probability;
  const double weight_positive = a * positive.probability / mass;
  const double weight_negative = negative.probability / mass;
  const double mean = weight_positive * positive.distance - weight_negative * negative.distance / a;
  const double gap = positive.distance + negative.distance / a;
  const double variance = weight_positive * positive.variance + weight_negative * negative.variance / a / a +
                          weight_positive * weight_negative * gap * gap;
  return closed(mean / variance * root, y.rho / variance, mean / root);
}

}  // namespace dma
