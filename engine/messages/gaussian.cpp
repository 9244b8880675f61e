#include "engine/messages/gaussian.h"

#include <algorithm>

namespace dma {

namespace {
constexpr double kLogTwoPi = 1.8378770664093454836;

// log(1 + t) - t without cancellation at small t: its series starts at -t^2/2.
double log1p_minus(double t) {
  if (std::abs(t) > 0.01) return std::log1p(t) - t;
  // Alternating series; at |t| = 0.01 the ninth term is below 1e-17 of the first.
  double term = t * t, sum = 0;
  for (int k = 2; k <= 9; ++k, term *= -t) sum -= term / k;
  return sum;
}

// 1/2 (ratio - 1 - log ratio), ratio = q_rho / p_rho. Around 1 it is written in ratio - 1; elsewhere with the
// difference of two logarithms, which stays finite when the ratio itself leaves the double range.
double spread_divergence(double p_rho, double q_rho) {
  const double excess = (q_rho - p_rho) / p_rho;
  if (std::abs(excess) <= 0.5) return -0.5 * log1p_minus(excess);
  return 0.5 * (excess - (std::log(q_rho) - std::log(p_rho)));
}

// Two means that overflowed to the same side count as equal.
double distance(double a, double b) { return a == b ? 0.0 : a - b; }

double log_density_at(double deviation, double rho) {
  return 0.5 * (std::log(rho) - kLogTwoPi - deviation * deviation);
}
}  // namespace

Natural multiply_unusual(const Natural& a, const Natural& b) {
  if (a.is_point()) return a;
  if (b.is_point()) return b;
  // Halving both avoids overflow and keeps the mean.
  return closed(a.tau + b.tau, a.rho + b.rho, [&] { return (a.tau / 2 + b.tau / 2) / (a.rho / 2 + b.rho / 2); });
}

double log_density(const Gaussian& g, double x) {
  if (g.is_uniform()) return 0;
  if (g.is_point()) return x == g.tau ? kInfinity : -kInfinity;
  if (widens(g)) return 0.5 * (std::log(-g.rho) - kLogTwoPi - (x - g.mean()) * g.rho * (x - g.mean()));
  return log_density_at(distance(x, g.mean()) * std::sqrt(g.rho), g.rho);
}

double kl(const Gaussian& p, const Gaussian& q) {
  if (p == q) return 0;
  if (!p.is_proper() || !q.is_proper()) return kInfinity;  // a point mass has no density, the constant 1 no integral
  const double deviation = distance(p.mean(), q.mean()) * std::sqrt(q.rho);
  return spread_divergence(p.rho, q.rho) + 0.5 * deviation * deviation;
}

bool any_uniform(std::span<const Gaussian> messages) {
  return std::ranges::any_of(messages, &Gaussian::is_uniform);
}

double log_normaliser(const Gaussian& g) { return -log_density(g, 0); }

double log_overlap(const Gaussian& p, const Gaussian& q) {
  if (p.is_uniform() || q.is_uniform()) return 0;
  if (p.is_point()) return log_density(q, p.tau);
  if (q.is_point()) return log_density(p, q.tau);
  // Precision of the difference, 1 / (1/p.rho + 1/q.rho), computed without forming either variance.
  const double wide = std::min(p.rho, q.rho), narrow = std::max(p.rho, q.rho);
  const double rho = wide / (1 + wide / narrow);
  if (wide < 0) {
    if (!(wide + narrow > 0)) return std::nan("");
    const double apart = p.mean() - q.mean();
    return 0.5 * (std::log(-rho) - kLogTwoPi - apart * rho * apart);
  }
  return log_density_at(distance(p.mean(), q.mean()) * std::sqrt(rho), rho);
}

}  // namespace dma
