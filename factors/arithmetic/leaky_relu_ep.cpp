#include "factors/arithmetic/leaky_relu_ep.h"

#include <algorithm>

#include "engine/support/independent.h"
#include "factors/arithmetic/leaky_relu_linearised.h"
#include "factors/authoring/chunks.h"
#include "factors/authoring/normal.h"

namespace dma {

namespace {

// exp(tau x - rho x^2 / 2) restricted to {x > 0}: its mass is factor / scale.
struct Piece {
  double factor, scale, mean, variance;
};

// In units of the standard deviation, with u = tau / sqrt(rho) and R Mills' ratio: the mass is sqrt(2 pi) Phi(u)
// exp(u^2 / 2) = R(-u), the mean u + h and the variance 1 - h (u + h), where h = 1 / R(-u) and for u > 0 R(-u) = sqrt(2
// pi) exp(u^2 / 2) - R(u). `mills` is R and R' at |u|, `exponential` exp(-u^2 / 2).
Piece cut(double u, double sd, const normal::Mills& mills, double exponential) {
  const auto [ratio, derivative] = mills;
  const double body = normal::kSqrtTwoPi - exponential * ratio;
  const double factor = u < 0 ? ratio : body, scale = u < 0 ? 1 : exponential, h = scale / factor;
  const double distance = u < 0 ? -derivative * h : u + h;
  const double beyond = (ratio * ratio + derivative) * h * h, before = 1 - h * distance;
  return {sd * factor, scale, sd * distance, sd * sd * (u < 0 ? beyond : before)};
}

struct Marginal {
  double weight_positive, weight_negative;
  Piece positive, negative;
};

// The two pieces with their weights; the mean of the negative one is still that of -x.
Marginal mixture(const Piece& positive, const Piece& negative) {
  const double p = positive.factor * negative.scale, n = negative.factor * positive.scale, inverse = 1 / (p + n);
  return {p * inverse, n * inverse, positive, negative};
}

// The arriving messages as functions of x on each side of the kink: exp(tau t - rho t^2 / 2) for t = x > 0 and for t =
// -x > 0.
struct Sides {
  double positive_tau, positive_rho, negative_tau, negative_rho;
};
Sides sides(const Natural& x, const Natural& y, double slope) {
  return {x.tau + y.tau, x.rho + y.rho, -(x.tau + slope * y.tau), x.rho + slope * slope * y.rho};
}

// True if a piece whose bulk lies `u` standard deviations inside its side has all of the mass.
bool has_all(double u, double other_u, double slope) {
  return u >= normal::kMillsEnd && other_u < 0.5 * normal::kMillsEnd && slope >= LeakyRelu::kTinySlope;
}

// A piece for any u; its mass is factor exp(log_scale).
struct AnyPiece : Piece {
  double log_scale;
};
AnyPiece any_cut(double u, double sd) {
  if (std::abs(u) < normal::kMillsEnd) {
    const normal::MillsTable& table = normal::MillsTable::get();
    return {cut(u, sd, table.at(std::abs(u)), table.exponential(std::abs(u))), u < 0 ? 0 : 0.5 * u * u};
  }
  if (u > 0) return {{sd * normal::kSqrtTwoPi, std::exp(-0.5 * u * u), sd * u, sd * sd}, 0.5 * u * u};
  const normal::TailShape beyond = normal::tail_shape(-u);
  return {{sd * beyond.ratio, 1, sd * beyond.excess, sd * sd * beyond.variance}, 0};
}

Marginal any_mixture(AnyPiece positive, AnyPiece negative) {
  constexpr double kLeast = 1e-280;  // below it both scales may have underflowed
  if (positive.factor * negative.scale + negative.factor * positive.scale < kLeast) {
    positive.scale = std::exp(std::min(negative.log_scale - positive.log_scale, 700.0));
    negative.scale = 1;
  }
  return mixture(positive, negative);
}

// Moments of the mixture with the negative piece scaled, divided by the message that arrived.
Natural quotient(const Marginal& m, double scale, const Natural& arrived) {
  const double low = -scale * m.negative.mean, gap = m.positive.mean - low;
  const double mean = m.weight_positive * m.positive.mean + m.weight_negative * low;
  const double variance = m.weight_positive * m.positive.variance +
                          m.weight_negative * scale * scale * m.negative.variance +
                          m.weight_positive * m.weight_negative * gap * gap;
  const double rho = 1 / variance;
  return {mean * rho - arrived.tau, rho - arrived.rho};
}

// For proper x and y. `linear`(a): the message if only y = a x matters; `curved`(marginal): if the kink matters.
template <class Linear, class Curved>
Gaussian message(const Gaussian& x, const Gaussian& y, double slope, const Linear& linear, const Curved& curved) {
  const Sides s = sides(x, y, slope);
  const double positive_sd = 1 / std::sqrt(s.positive_rho), negative_sd = 1 / std::sqrt(s.negative_rho);
  const double positive_u = s.positive_tau * positive_sd, negative_u = s.negative_tau * negative_sd;
  if (has_all(positive_u, negative_u, slope)) return linear(1.0);
  if (has_all(negative_u, positive_u, slope)) return linear(slope);
  return Gaussian(curved(any_mixture(any_cut(positive_u, positive_sd), any_cut(negative_u, negative_sd))));
}

}  // namespace

Gaussian LeakyReluEp::to_y(const Gaussian& x, const Gaussian& y, Parameters p) {
  if (!x.is_proper() || !y.is_proper() || p.slope == 1) return LeakyRelu::to_y(x, p);
  return message(x, y, p.slope, [&](double a) { return scaled(x, a); },
                 [&](const Marginal& m) { return quotient(m, p.slope, y); });
}

Gaussian LeakyReluEp::to_x(const Gaussian& x, const Gaussian& y, Parameters p) {
  if (!x.is_proper() || !y.is_proper() || p.slope == 1) return LeakyRelu::to_x(y, p);
  return message(x, y, p.slope, [&](double a) { return scaled(y, 1 / a); },
                 [&](const Marginal& m) { return quotient(m, 1, x); });
}

namespace {

// False for an improper message, which cannot be stored, and for a uniform one although y's message is informative.
bool is_of_use(const Natural& message, const Natural& y) {
  return is_valid(message) && !(message.is_uniform() && !y.is_uniform());
}

}  // namespace

GaussianOrFallback LeakyReluEp::to_x_or_linearised(const Gaussian& x, const Gaussian& y, Parameters p) {
  const Gaussian ep = to_x(x, y, p);
  return is_of_use(ep, y) ? GaussianOrFallback(ep) : GaussianOrFallback(LeakyReluLinearised::to_x(x, y, p), true);
}

namespace {

struct Arrived {
  const double *tau, *rho;
  Natural operator[](std::size_t i) const { return {tau[i], rho[i]}; }
};

// Every pass does one operation for all slots; only Mills' ratio is looked up slot by slot. Returns the number of
// linearised messages.
std::uint64_t chunk_to_x(const Arrived& x, const Arrived& y, double slope, std::size_t count, double* to_tau,
                         double* to_rho) {
  double u[2][kChunk], sd[2][kChunk], exponential[2][kChunk];
  normal::Mills mills[2][kChunk];
  for (std::size_t i = 0; i < count; ++i) {
    const Sides s = sides(x[i], y[i], slope);
    sd[0][i] = 1 / std::sqrt(s.positive_rho);
    sd[1][i] = 1 / std::sqrt(s.negative_rho);
    u[0][i] = s.positive_tau * sd[0][i];
    u[1][i] = s.negative_tau * sd[1][i];
  }
  for (int side = 0; side < 2; ++side)
    normal::MillsTable::get().look_up(u[side], count, mills[side], exponential[side]);
  DMA_INDEPENDENT
  for (std::size_t i = 0; i < count; ++i) {
    const Piece positive = cut(u[0][i], sd[0][i], mills[0][i], exponential[0][i]);
    const Piece negative = cut(u[1][i], sd[1][i], mills[1][i], exponential[1][i]);
    const Natural result = quotient(mixture(positive, negative), 1, x[i]);
    to_tau[i] = result.tau;
    to_rho[i] = result.rho;
  }
  std::uint64_t replaced = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto [low, high] = std::minmax(u[0][i], u[1][i]);
    constexpr double kLeast = 1e-100, kMost = 1e100;  // no product underflows within this range
    const bool is_ordinary = high < normal::kMillsEnd && low > -normal::kMillsEnd && x.rho[i] > kLeast &&
                             y.rho[i] > kLeast && x.rho[i] < kMost && y.rho[i] < kMost;
    if (is_ordinary && is_of_use({to_tau[i], to_rho[i]}, y[i])) continue;
    const Gaussian from_x(x[i]), from_y(y[i]);
    const GaussianOrFallback message =
        is_ordinary ? GaussianOrFallback(LeakyReluLinearised::to_x(from_x, from_y, {slope}), true)
                    : LeakyReluEp::to_x_or_linearised(from_x, from_y, {slope});
    to_tau[i] = message.tau;
    to_rho[i] = message.rho;
    replaced += message.replaced;
  }
  return replaced;
}

}  // namespace

bool LeakyReluEp::block_to_x_or_linearised(const SlotBlock& block) {
  const double slope = *block.parameter(0, 0);
  if (block.call.parameters[0].column != 0 || slope == 1 || slope < LeakyRelu::kTinySlope) return false;
  by_chunks(block.slots, [&](std::size_t i, std::size_t count) {
    const auto from = [&](std::size_t read) { return Arrived{block.tau_of(read) + i, block.rho_of(read) + i}; };
    block.replaced += chunk_to_x(from(0), from(1), slope, count, block.tau + i, block.rho + i);
  });
  return true;
}

}  // namespace dma
