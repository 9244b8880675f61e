#include "factors/likelihoods/student_t_noise.h"

#include <cmath>
#include <numbers>

#include "engine/kinds/kind.h"
#include "engine/support/log_gamma.h"
#include "factors/authoring/tilted.h"

namespace dma {

namespace {

using Parameters = StudentTNoise::Parameters;

double log_normaliser(Parameters p) {
  return log_gamma_half_step(0.5 * p.degrees) - 0.5 * std::log(std::numbers::pi * p.degrees) - std::log(p.scale);
}
double log_shape(double u, Parameters p) {
  constexpr double kSquarable = 1e100;
  const double r = std::abs(u) / p.scale / std::sqrt(p.degrees);
  return -0.5 * (p.degrees + 1) * (r < kSquarable ? std::log1p(r * r) : 2 * std::log(r));
}

Gaussian difference(const Gaussian& x, const Gaussian& y) {
  const auto variance = [](const Gaussian& g) { return g.is_point() ? 0 : g.variance(); };
  return Gaussian::from_moments(y.mean() - x.mean(), variance(x) + variance(y));
}

Tilted tilted(const Gaussian& u, Parameters p) {
  const double hints[] = {-u.mean() / u.sd()};
  return tilt([&](double t) { return log_shape(u.mean() + t * u.sd(), p); }, hints);
}

// The message to y - x.
GaussianOrFallback to_difference(const Gaussian& x, const Gaussian& y, Parameters p) {
  const Gaussian u = x.is_uniform() || y.is_uniform() ? Gaussian::uniform() : difference(x, y);
  return u.is_proper() ? tilted_message(tilted(u, p), u) : GaussianOrFallback(Gaussian::uniform());
}

// known + sign u, u's message being given.
GaussianOrFallback moved(const Gaussian& known, const GaussianOrFallback& u, double sign) {
  if (!is_valid(u) || u.is_uniform()) return u;
  const double noise = known.is_point() ? 0 : known.variance();
  const auto of = [&](const Gaussian& m) {
    return Gaussian::from_moments(known.mean() + sign * m.mean(), m.variance() + noise);
  };
  return {of(u), u.replaced, u.replaced ? of(Gaussian(u.own)) : Gaussian()};
}

}  // namespace

GaussianOrFallback StudentTNoise::to_x(const Gaussian& x, const Gaussian& y, Parameters p) {
  return moved(y, to_difference(x, y, p), -1);
}
GaussianOrFallback StudentTNoise::to_y(const Gaussian& x, const Gaussian& y, Parameters p) {
  return moved(x, to_difference(x, y, p), 1);
}

double StudentTNoise::log_density(double x, double y, Parameters p) { return log_normaliser(p) + log_shape(y - x, p); }

double StudentTNoise::log_integral(const Gaussian& x, const Gaussian& y, Parameters p) {
  if (x.is_uniform() || y.is_uniform()) return 0;
  const Gaussian u = difference(x, y);
  if (u.is_point()) return log_normaliser(p) + log_shape(u.tau, p);
  const Tilted t = tilted(u, p);
  return t.found ? log_normaliser(p) + t.log_mass : -kInfinity;
}

Kind student_t_noise_kind() {
  return kind("student_t_noise", "y = x + scale T, T of Student's distribution")
      .input("x")
      .output("y")
      .parameter("scale", above(0), finite())
      .parameter("degrees", above(0), finite())
      .log_density([](auto v, auto p) { return StudentTNoise::log_density(v[0], v[1], {p[0], p[1]}); })
      .log_integral([](auto m, auto p) {
        return StudentTNoise::log_integral(Gaussian(m[0]), Gaussian(m[1]), {p[0], p[1]});
      })
      .message<&StudentTNoise::to_x>("ep", "x", from("x", "y"))
      .message<&StudentTNoise::to_y>("ep", "y", from("x", "y"));
}

}  // namespace dma
