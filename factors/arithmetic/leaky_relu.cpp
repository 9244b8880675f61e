#include "factors/arithmetic/leaky_relu.h"

#include "engine/kinds/kind.h"
#include "engine/support/independent.h"
#include "factors/arithmetic/leaky_relu_ep.h"
#include "factors/arithmetic/leaky_relu_linearised.h"
#include "factors/arithmetic/vmp.h"
#include "factors/authoring/chunks.h"
#include "factors/authoring/normal.h"

namespace dma {

namespace {

struct UnitMoments {
  double mean, variance;
};

// Beyond this distance only one side has mass.
double one_sided(double slope) { return slope > LeakyRelu::kTinySlope ? normal::kMillsEnd : normal::kOneSided; }

// Converts moments in units of the arriving message's standard deviation.
Gaussian from_units(const UnitMoments& m, double root, double rho, double sd) {
  const double gain = 1 / m.variance;
  return closed(m.mean * gain * root, rho * gain, m.mean * sd);
}

// Prop. 3.4 with a the slope and lengths in units of the incoming standard deviation: X = u + N(0, 1), and
//
//   Y = X + (1 - a) max(0, -X)         read for u >= 0
//     = a X + (1 - a) max(0, X)        read for u <  0
//
// so only a rectified tail of probability p = Phi(-|u|) <= 1/2, mean r and variance g is added to a linear map. With
// Cov(X, max(0, X)) = Phi(u) and Cov(X, max(0, -X)) = -Phi(-u):
//
//   u >= 0   mean = u + (1 - a) r      variance = 1 - 2 (1 - a) p + (1 - a)^2 g
//   u <  0   mean = a u + (1 - a) r    variance = a^2 + 2 a (1 - a) p + (1 - a)^2 g
//
// The one subtraction is harmless: its result is at least 1 - 2p + g >= 0.34.
UnitMoments moments_of_y(double u, const normal::Tail& beyond, double a) {
  const double bend = 1 - a, p = beyond.probability;
  const double positive = 1 - 2 * bend * p, negative = a * a + 2 * a * bend * p;
  return {(u < 0 ? a * u : u) + bend * p * beyond.excess,
          (u < 0 ? negative : positive) + bend * bend * normal::rectified_variance(beyond)};
}

}  // namespace

Gaussian LeakyRelu::to_y(const Gaussian& x, Parameters parameters) {
  const double a = parameters.slope;
  if (a == 1 || x.is_uniform()) return x;
  if (x.is_point()) return Gaussian::point(value(x.tau, parameters));
  const double root = std::sqrt(x.rho), sd = 1 / root;
  const double u = x.tau * sd;
  if (std::abs(u) > one_sided(a)) return u > 0 ? x : scaled(x, a);
  return from_units(moments_of_y(u, normal::tail(std::abs(u)), a), root, x.rho, sd);
}

namespace {

// Prop. 3.5. The exact message is N(x; m, v) on x > 0 and N(a x; m, v) on x < 0: a mixture of two truncated Gaussians
// with weights proportional to a Phi(w) and Phi(-w), w = m / sqrt(v). In units of sqrt(v), and for x = |w|, the piece
// on the side of the mean (`near`) has probability 1 - p, distance x + h from the kink and variance 1 - h (h + x), h =
// phi(x)/(1 - p); the other (`far`) is the upper tail beyond x: probability p, distance `excess` from the kink.
// Distances and variances of the negative piece are divided by a and a^2. The mixture's variance is
//
//   weight+ var+ + weight- var- + weight+ weight- (distance between the means)^2.
UnitMoments moments_of_x(double w, const normal::Tail& beyond, double a, double inverse_a) {
  const double x = std::abs(w), body = 1 - beyond.probability, h = beyond.density / body;
  const double near = x + h, near_variance = 1 - h * near;
  const bool negative_mean = w < 0;
  const double mass_positive = a * (negative_mean ? beyond.probability : body);
  const double mass_negative = negative_mean ? body : beyond.probability;
  const double distance_positive = negative_mean ? beyond.excess : near;
  const double distance_negative = (negative_mean ? near : beyond.excess) * inverse_a;
  const double variance_positive = negative_mean ? beyond.variance : near_variance;
  const double variance_negative = (negative_mean ? near_variance : beyond.variance) * inverse_a * inverse_a;
  const double inverse = 1 / (mass_positive + mass_negative), positive = mass_positive * inverse,
               negative = mass_negative * inverse;
  const double gap = distance_positive + distance_negative;
  return {positive * distance_positive - negative * distance_negative,
          positive * variance_positive + negative * variance_negative + positive * negative * gap * gap};
}

}  // namespace

Gaussian LeakyRelu::to_x(const Gaussian& y, Parameters parameters) {
  const double a = parameters.slope;
  if (a == 1 || y.is_uniform()) return y;
  if (y.is_point()) return closed(inverse(y.tau, parameters), kInfinity, inverse(y.tau, parameters));
  const double root = std::sqrt(y.rho), sd = 1 / root, w = y.tau * sd;
  if (std::abs(w) > one_sided(a)) return w > 0 ? y : scaled(y, 1 / a);
  return from_units(moments_of_x(w, normal::tail(std::abs(w)), a, 1 / a), root, y.rho, sd);
}

namespace {

// Messages in one direction for a chunk of slots: moments(u, beyond) computes them from the arriving location and the
// tail beyond its absolute value, both in standard deviations. Every pass does one operation for all slots; only the
// tails are looked up slot by slot. Returns false if a message is uniform, a point mass or out of range.
template <class MomentsOf>
bool chunk(const double* tau, const double* rho, std::size_t count, const MomentsOf& moments, double* to_tau,
           double* to_rho) {
  double root[kChunk], u[kChunk], exponential[kChunk];
  normal::Mills mills[kChunk];
  for (std::size_t i = 0; i < count; ++i) {
    root[i] = std::sqrt(rho[i]);
    u[i] = tau[i] / root[i];
  }
  normal::MillsTable::get().look_up(u, count, mills, exponential);
  std::int64_t others = 0;
  DMA_INDEPENDENT
  for (std::size_t i = 0; i < count; ++i) {
    const normal::Tail beyond = normal::tail(normal::tail_shape(mills[i]), normal::kInverseSqrtTwoPi * exponential[i]);
    const auto [mean, variance] = moments(u[i], beyond);
    const double gain = 1 / variance, new_tau = mean * gain * root[i], new_rho = rho[i] * gain;
    to_tau[i] = new_tau;
    to_rho[i] = new_rho;
    others += std::abs(new_tau) + new_rho < kInfinity ? 0 : 1;
  }
  return others == 0;
}

// Computes all messages by chunks; `one` handles the messages of a chunk that returned false.
template <class MomentsOf>
void all_chunks(const double* tau, const double* rho, std::size_t count, double slope,
                Gaussian (*one)(const Gaussian&, LeakyRelu::Parameters), const MomentsOf& moments, double* to_tau,
                double* to_rho) {
  by_chunks(count, [&](std::size_t first, std::size_t some) {
    if (slope >= LeakyRelu::kTinySlope &&
        chunk(tau + first, rho + first, some, moments, to_tau + first, to_rho + first))
      return;
    for (std::size_t i = first; i < first + some; ++i) {
      const Gaussian message = one({tau[i], rho[i]}, {slope});
      to_tau[i] = message.tau;
      to_rho[i] = message.rho;
    }
  });
}

bool is_for_blocks(const SlotBlock& block) {
  return block.call.parameters[0].column == 0 && *block.parameter(0, 0) != 1;
}

}  // namespace

void LeakyRelu::many_to_y(const double* tau, const double* rho, std::size_t count, double slope, double* to_tau,
                          double* to_rho) {
  all_chunks(tau, rho, count, slope, &to_y,
             [=](double u, const normal::Tail& beyond) { return moments_of_y(u, beyond, slope); }, to_tau, to_rho);
}

void LeakyRelu::many_to_x(const double* tau, const double* rho, std::size_t count, double slope, double* to_tau,
                          double* to_rho) {
  const double inverse = 1 / slope;
  all_chunks(
      tau, rho, count, slope, &to_x,
      [=](double w, const normal::Tail& beyond) { return moments_of_x(w, beyond, slope, inverse); }, to_tau, to_rho);
}

bool LeakyRelu::block_to_y(const SlotBlock& block) {
  if (!is_for_blocks(block)) return false;
  many_to_y(block.tau_of(0), block.rho_of(0), block.slots, *block.parameter(0, 0), block.tau, block.rho);
  return true;
}

bool LeakyRelu::block_to_x(const SlotBlock& block) {
  if (!is_for_blocks(block)) return false;
  many_to_x(block.tau_of(0), block.rho_of(0), block.slots, *block.parameter(0, 0), block.tau, block.rho);
  return true;
}

Kind leaky_relu_kind() {
  return kind("leaky_relu", "y = max(0, x) + slope min(0, x)")
      .input("x")
      .output("y")
      .parameter("slope", above(0), at_most(1),
                 advice("at slope 0 the message to x is improper (every x <= 0 "
                        "gives y = 0); use a small positive slope such as 0.01"))
      .function([](auto v, auto p) { return LeakyRelu::value(v[0], {p[0]}); })
      .linear_view(&LeakyReluLinearised::linear_view)
      .message<&LeakyRelu::to_y, &LeakyRelu::block_to_y>("dma", "y")
      .message<&LeakyRelu::to_x, &LeakyRelu::block_to_x>("dma", "x")
      .message<&LeakyRelu::to_y, &LeakyRelu::block_to_y>("linearised", "y")
      .message<&LeakyReluLinearised::to_x>("linearised", "x", from("x", "y"))
      .message<&LeakyReluEp::to_y>("ep", "y", from("x", "y"))
      .message<&LeakyReluEp::to_x>("ep", "x", from("x", "y"))
      .message<&LeakyRelu::to_y, &LeakyRelu::block_to_y>("hybrid", "y")
      .message<&LeakyReluEp::to_x_or_linearised, &LeakyReluEp::block_to_x_or_linearised>("hybrid", "x", from("x", "y"))
      .message<&LeakyReluVmp::to_y>("vmp", "y")
      .message<&LeakyReluVmp::to_x>("vmp", "x");
}

}  // namespace dma
