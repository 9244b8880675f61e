#include "factors/likelihoods/student_t_noise.h"

#include <cmath>
#include <numbers>

#include "engine/kinds/kind.h"
#include "engine/support/special_functions.h"
#include "factors/authoring/tilted_product.h"

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

// A known scale, or a log variance with this standard deviation around that of the scale.
class StudentTArrivals {
 public:
  StudentTArrivals(const Gaussian& x, const Gaussian& y, Parameters p, double sd = 0)
      : x_(x), y_(y), p_(p), sd_(sd), u_(Gaussian::from_moments(y.mean() - x.mean(), variance(x) + variance(y))) {}
  StudentTArrivals(const Gaussian& x, const Gaussian& log_variance, const Gaussian& y, double degrees)
      : StudentTArrivals(x, y, Parameters{std::exp(0.5 * log_variance.mean()), degrees},
                         std::sqrt(variance(log_variance))) {}

  GaussianOrFallback to_x() const { return moved(y_, to_difference(x_, y_), -1); }
  GaussianOrFallback to_y() const { return moved(x_, to_difference(y_, x_), 1); }
  GaussianOrFallback to_log_variance(const Gaussian& arrived) const {
    return is_known() && arrived.is_proper() ? tilted_message(tilted(true), arrived) : GaussianOrFallback();
  }
  double log_integral() const {
    if (!is_known()) return 0;
    if (u_.is_point() && sd_ == 0) return log_normaliser(p_) + log_shape(u_.tau, p_);
    const Tilted t = tilted(false);
    return t.found ? log_normaliser(p_) + t.log_mass : -kInfinity;
  }

 private:
  static double variance(const Gaussian& g) { return g.is_point() ? 0 : g.variance(); }
  bool is_known() const { return !x_.is_uniform() && !y_.is_uniform() && sd_ < kInfinity; }

  // The moments of u = y - x, or of the log variance, in units of the arriving message.
  Tilted tilted(bool of_noise) const {
    const double width = std::sqrt(variance(u_)), near_zero[] = {width > 0 ? -u_.mean() / width : 0};
    const auto log_f = [&](double t, double s) {  // relative to the normaliser of the scale
      const double wider = 0.5 * sd_ * s;
      return log_shape(u_.mean() + t * width, {p_.scale * std::exp(wider), p_.degrees}) - wider;
    };
    if (sd_ == 0) return tilt([&](double t) { return log_f(t, 0); }, near_zero);
    if (u_.is_point()) return tilt([&](double s) { return log_f(0, s); });
    const std::span<const double> hints[] = {near_zero, {}}, swapped[] = {{}, near_zero};
    if (of_noise) return tilt_first([&](const double* t) { return log_f(t[1], t[0]); }, 2, swapped);
    return tilt_first([&](const double* t) { return log_f(t[0], t[1]); }, 2, hints);
  }

  // The message to u, converted for one end.
  GaussianOrFallback to_difference(const Gaussian& target, const Gaussian& other) const {
    if (target.is_point()) return {};
    if (is_known()) return u_.is_proper() ? tilted_message(tilted(false), u_) : GaussianOrFallback();
    if (!target.is_uniform() || other.is_uniform() || !(p_.degrees > 2) || sd_ == kInfinity) return {};
    const double scale = p_.scale * std::exp(0.25 * sd_ * sd_);
    return GaussianOrFallback(Gaussian::from_moments(0, scale * scale * p_.degrees / (p_.degrees - 2)));
  }

  // known + sign u, given u's message.
  static GaussianOrFallback moved(const Gaussian& known, const GaussianOrFallback& u, double sign) {
    if (!is_valid(u) || u.is_uniform()) return u;
    const auto of = [&](const Gaussian& m) {
      return Gaussian::from_moments(known.mean() + sign * m.mean(), m.variance() + variance(known));
    };
    return {of(u), u.replaced, u.replaced ? of(Gaussian(u.own)) : Gaussian()};
  }

  const Gaussian &x_, &y_;
  Parameters p_;
  double sd_;
  Gaussian u_;
};

}  // namespace

GaussianOrFallback StudentTNoise::to_x(const Gaussian& x, const Gaussian& y, Parameters p) {
  return StudentTArrivals(x, y, p).to_x();
}
GaussianOrFallback StudentTNoise::to_y(const Gaussian& x, const Gaussian& y, Parameters p) {
  return StudentTArrivals(x, y, p).to_y();
}
double StudentTNoise::log_density(double x, double y, Parameters p) { return log_normaliser(p) + log_shape(y - x, p); }
double StudentTNoise::log_integral(const Gaussian& x, const Gaussian& y, Parameters p) {
  return StudentTArrivals(x, y, p).log_integral();
}

GaussianOrFallback StudentTLogVariance::to_x(const Gaussian& x, const Gaussian& z, const Gaussian& y, Parameters p) {
  return StudentTArrivals(x, z, y, p.degrees).to_x();
}
GaussianOrFallback StudentTLogVariance::to_log_variance(const Gaussian& x, const Gaussian& z, const Gaussian& y,
                                                        Parameters p) {
  return StudentTArrivals(x, z, y, p.degrees).to_log_variance(z);
}
GaussianOrFallback StudentTLogVariance::to_y(const Gaussian& x, const Gaussian& z, const Gaussian& y, Parameters p) {
  return StudentTArrivals(x, z, y, p.degrees).to_y();
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

Kind student_t_log_variance_kind() {
  const auto ports = from("x", "log_variance", "y");
  return kind("student_t_log_variance", "y = x + exp(log_variance / 2) T, T of Student's distribution")
      .input("x")
      .input("log_variance")
      .output("y")
      .parameter("degrees", above(0), finite())
      .log_density([](auto v, auto p) { return StudentTNoise::log_density(v[0], v[2], {std::exp(0.5 * v[1]), p[0]}); })
      .log_integral([](auto m, auto p) {
        const Gaussian x(m[0]), z(m[1]), y(m[2]);
        return StudentTArrivals(x, z, y, p[0]).log_integral();
      })
      .message<&StudentTLogVariance::to_x>("ep", "x", ports)
      .message<&StudentTLogVariance::to_log_variance>("ep", "log_variance", ports)
      .message<&StudentTLogVariance::to_y>("ep", "y", ports);
}

}  // namespace dma
