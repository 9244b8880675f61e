#include "factors/likelihoods/probit.h"

#include <cmath>

#include "engine/kinds/kind.h"
#include "factors/authoring/normal.h"
#include "factors/authoring/tilted.h"

namespace dma {

namespace {

// Converts the derivatives of log Z by the mean into a message: rho = b / (1 - v b), tau = (a + m b) / (1 - v b).
GaussianOrFallback from_derivatives(const Gaussian& in, double a, double b) {
  const double v = in.variance(), sd = in.sd(), fraction = 1 / (1 - v * b);
  return tilted_message(
      {.found = true, .log_mass = 0, .mean = sd * a, .tau = sd * a * fraction, .rho = v * b * fraction}, in);
}

// The message of q + (p - q) Phi((in + N(0, noise)) > 0).
GaussianOrFallback of_mixture(const Gaussian& in, double noise, double p, double q) {
  if (p == q) return GaussianOrFallback(Gaussian::uniform());
  const double spread = std::sqrt(noise + in.variance()), u = in.mean() / spread;
  const double z = p * normal::distribution(u) + q * normal::distribution(-u),
               a = (p - q) * normal::density(u) / (spread * z);
  return from_derivatives(in, a, a * (a + u / spread));
}

double positive(const Gaussian& y) { return normal::distribution(y.mean() / y.sd()); }
double negative(const Gaussian& y) { return normal::distribution(-y.mean() / y.sd()); }

}  // namespace

double Probit::probability(const Gaussian& x) {
  return x.is_uniform() ? 0.5 : normal::distribution(x.mean() / std::sqrt(1 + x.variance()));
}

GaussianOrFallback Probit::to_x(const Gaussian& x, const Gaussian& y) {
  if (x.is_uniform() || y.is_uniform() || x.is_point()) return GaussianOrFallback(Gaussian::uniform());
  if (!y.is_point()) return of_mixture(x, 1, positive(y), negative(y));
  const double sign = y.tau > 0 ? 1 : -1, m = sign * x.mean(), v = x.variance(), root = std::sqrt(1 + v), u = m / root;
  const normal::Tail below = normal::tail(std::abs(u));
  const double h = normal::hazard(u), bend = u < 0 ? below.excess : h + u, t = normal::truncated_variance(u);
  const double fraction = h / (1 + v * t), rho = fraction * bend, tau = sign * fraction * (root + m * bend);
  return GaussianOrFallback(closed(tau, rho, [&] { return tau / rho; }));
}

GaussianOrFallback Probit::to_y(const Gaussian& x, const Gaussian& y) {
  if (x.is_uniform() || !y.is_proper()) return GaussianOrFallback(Gaussian::uniform());
  return of_mixture(y, 0, probability(x), probability({-x.tau, x.rho}));
}

double Probit::log_density(double x, double y) { return normal::log_distribution(y > 0 ? x : -x); }

double Probit::log_integral(const Gaussian& x, const Gaussian& y) {
  if (y.is_uniform()) return 0;  // each outcome is possible for any x
  const double u = x.is_uniform() ? 0 : x.mean() / std::sqrt(1 + x.variance());
  if (y.is_point()) return normal::log_distribution(y.tau > 0 ? u : -u);
  return std::log(negative(y) + (positive(y) - negative(y)) * normal::distribution(u));
}

Kind probit_kind() {
  return kind("probit", "y > 0 with probability Phi(x)")
      .input("x")
      .output("y")
      .log_density([](auto v, auto) { return Probit::log_density(v[0], v[1]); })
      .log_integral([](auto m, auto) { return Probit::log_integral(Gaussian(m[0]), Gaussian(m[1])); })
      .observes("y", one_of({-1, 0, 1}))
      .message<&Probit::to_x>("ep", "x", from("x", "y"))
      .message<&Probit::to_y>("ep", "y", from("x", "y"));
}

}  // namespace dma
