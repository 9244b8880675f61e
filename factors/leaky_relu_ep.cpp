#include "factors/leaky_relu_ep.h"

#include "factors/leaky_relu_linearised.h"
#include "factors/normal.h"

namespace dma {

namespace {

constexpr double kSqrtTwoPi = 2.50662827463100050242;

// exp(tau x - rho x^2 / 2) restricted to {x > 0}: its mass is factor / scale, where scale = exp(-u^2 / 2) for u = tau /
// sqrt(rho) > 0, and 1 otherwise.
struct Piece {
  double factor, scale, minus_log_scale, mean, variance;
};

// With R Mills' ratio, the mass is sqrt(2 pi / rho) Phi(u) exp(u^2 / 2) = R(-u) / sqrt(rho), and R(-u) = sqrt(2 pi)
// exp(u^2 / 2) - R(u). In units of the standard deviation the mean is u + h and the variance 1 - h (u + h), h = 1 / R(-u).
Piece positive_part(double tau, double rho) {
  const double sd = 1 / std::sqrt(rho), u = tau * sd;
  if (u < 0) {
    const normal::TailShape beyond = normal::tail_shape(-u);
    return {sd * beyond.ratio, 1, 0, sd * beyond.excess, sd * sd * beyond.variance};
  }
  const double log = 0.5 * u * u;
  if (u > normal::kOneSided) return {sd * kSqrtTwoPi, 0, log, sd * u, sd * sd};
  const double scale = std::exp(-log), cut_off = u < normal::kMillsEnd ? scale * normal::mills(u).ratio : 0;
  const double mass = kSqrtTwoPi - cut_off, h = scale / mass;
  return {sd * mass, scale, log, sd * (u + h), sd * sd * (1 - h * (h + u))};
}

struct Marginal {
  double weight_positive, weight_negative;
  Piece positive, negative;
};

// x and y proper. On either side of the kink, where y = a x, the two messages are one unnormalised Gaussian of x.
Marginal marginal(const Gaussian& x, const Gaussian& y, double slope) {
  Marginal m{};
  m.positive = positive_part(x.tau + y.tau, x.rho + y.rho);
  m.negative = positive_part(-(x.tau + slope * y.tau), x.rho + slope * slope * y.rho);
  m.negative.mean = -m.negative.mean;
  double positive = m.positive.factor * m.negative.scale, negative = m.negative.factor * m.positive.scale;
  constexpr double kLeast = 1e-280;
  if (!(positive + negative > kLeast)) {  // both scales may have underflowed
    positive = m.positive.factor;
    negative = m.negative.factor * std::exp(m.negative.minus_log_scale - m.positive.minus_log_scale);
    if (negative == kInfinity) positive = 0, negative = 1;
  }
  const double sum = 1 / (positive + negative);
  m.weight_positive = positive * sum;
  m.weight_negative = negative * sum;
  return m;
}

// Moments of the mixture where the negative piece is scaled, divided by the message that arrived.
Gaussian quotient(const Marginal& m, double scale, const Gaussian& arrived) {
  const double low = scale * m.negative.mean, gap = m.positive.mean - low;
  const double mean = m.weight_positive * m.positive.mean + m.weight_negative * low;
  const double variance = m.weight_positive * m.positive.variance + m.weight_negative * scale * scale * m.negative.variance +
                          m.weight_positive * m.weight_negative * gap * gap;
  const double rho = 1 / variance;
  return {mean * rho - arrived.tau, rho - arrived.rho};
}

}  // namespace

Gaussian LeakyReluEp::to_y(const Gaussian& x, const Gaussian& y, Parameters p) {
  if (!x.is_proper() || !y.is_proper() || p.slope == 1) return LeakyRelu::to_y(x, p);
  return quotient(marginal(x, y, p.slope), p.slope, y);
}

Gaussian LeakyReluEp::to_x(const Gaussian& x, const Gaussian& y, Parameters p) {
  if (!x.is_proper() || !y.is_proper() || p.slope == 1) return LeakyRelu::to_x(y, p);
  return quotient(marginal(x, y, p.slope), 1, x);
}

Gaussian LeakyReluEp::to_x_or_linearised(const Gaussian& x, const Gaussian& y, Parameters p) {
  const Gaussian message = to_x(x, y, p);
  return is_valid(message) && !(message.is_uniform() && !y.is_uniform()) ? message : LeakyReluLinearised::to_x(x, y, p);
}

}  // namespace dma
