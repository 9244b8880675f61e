#include "factors/leaky_relu_ep.h"

#include "factors/leaky_relu_linearised.h"
#include "factors/normal.h"

namespace dma {

namespace {

// A Gaussian cut at 0: the mass of the side kept, factor * exp(log_scale), and its moments.
struct Piece {
  double factor, log_scale, mean, variance;
};

// N(mean, sd^2) restricted to {x > 0}.
Piece positive_part(double mean, double sd) {
  const double u = mean / sd;
  if (u > normal::kOneSided) return {1, 0, mean, sd * sd};
  if (u < 0) {
    const normal::TailShape beyond = normal::tail_shape(-u);
    return {normal::kInverseSqrtTwoPi * beyond.ratio, -0.5 * u * u, sd * beyond.excess, sd * sd * beyond.variance};
  }
  const normal::Tail cut = normal::tail(u);
  const double mass = 1 - cut.probability, h = cut.density / mass;
  return {mass, 0, mean + sd * h, sd * sd * (1 - h * (h + u))};
}

struct Marginal {
  double weight_positive, weight_negative;
  Piece positive, negative;
};

// x and y proper.
Marginal marginal(const Gaussian& x, const Gaussian& y, double slope) {
  const double mx = x.mean(), vx = x.variance(), my = y.mean(), vy = y.variance();
  // N(x; mx, vx) N(a x; my, vy) as a function of x; its integral over the line is N(a mx; my, spread).
  const auto whole = [&](double a, double& spread) {
    spread = a * a * vx + vy;
    const double off = a * mx - my;
    return -0.5 * off * off / spread;
  };
  const auto mean_of = [&](double a, double spread) { return (mx * vy + a * my * vx) / spread; };
  double spread_positive = 0, spread_negative = 0;
  const double log_positive = whole(1, spread_positive), log_negative = whole(slope, spread_negative);
  Marginal m{};
  m.positive = positive_part(mean_of(1, spread_positive), std::sqrt(vx * vy / spread_positive));
  m.negative = positive_part(-mean_of(slope, spread_negative), std::sqrt(vx * vy / spread_negative));
  m.negative.mean = -m.negative.mean;
  const double odds = m.negative.factor / m.positive.factor * std::sqrt(spread_positive / spread_negative) *
                      std::exp(log_negative + m.negative.log_scale - log_positive - m.positive.log_scale);
  m.weight_positive = 1 / (1 + odds);
  m.weight_negative = odds < kInfinity ? odds * m.weight_positive : 1;
  return m;
}

// Moments of the mixture where the negative piece is scaled, divided by the message that arrived.
Gaussian quotient(const Marginal& m, double scale, const Gaussian& arrived) {
  const double low = scale * m.negative.mean, gap = m.positive.mean - low;
  const double mean = m.weight_positive * m.positive.mean + m.weight_negative * low;
  const double variance = m.weight_positive * m.positive.variance + m.weight_negative * scale * scale * m.negative.variance +
                          m.weight_positive * m.weight_negative * gap * gap;
  return {mean / variance - arrived.tau, 1 / variance - arrived.rho};
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
