#include "factors/likelihoods/gaussian_precision.h"

#include <algorithm>
#include <boost/math/special_functions/trigamma.hpp>
#include <cmath>

namespace dma {

namespace {

constexpr double kHalfLogTwoPi = 0.91893853320467274178;

double given(double x) { return std::isfinite(x) ? x : 0.0; }

// The message of a factor that knows the other end and the precision.
Gaussian around(const Gaussian& other, double precision) {
  return other.is_uniform() ? Gaussian::uniform() : Gaussian::from_moments(other.mean(), 1 / precision);
}

struct PrecisionBeliefs {
  Gaussian mean, value;
  double precision = 1;    // E[w]
  double half_square = 0;  // E[(value - mean)^2] / 2
  bool is_informed = false;  // both ends are known, and so is the precision
};

PrecisionBeliefs variational(const Gaussian& mean, const Gamma& precision, const Gaussian& value) {
  constexpr int kLimit = 1000;
  constexpr double kSettled = 1e-13;
  PrecisionBeliefs q{mean, value};
  const bool has_ends = !mean.is_uniform() && !value.is_uniform();
  q.precision = precision.is_point() || precision.is_proper() ? precision.mean() : 1;
  q.is_informed = precision.is_point() || precision.is_proper();
  for (int i = 0; i < kLimit; ++i) {
    q.mean = mean * around(q.value, q.precision);
    q.value = value * around(q.mean, q.precision);
    if (!has_ends) return q;
    const double apart = q.value.mean() - q.mean.mean();
    q.half_square = 0.5 * (apart * apart + q.value.variance() + q.mean.variance());
    if (precision.is_point()) return q;
    const Gamma belief(precision.tau + 0.5, precision.rho + q.half_square);
    if (!belief.is_proper()) return q;
    q.is_informed = true;
    const double before = q.precision;
    q.precision = belief.mean();
    if (std::abs(q.precision - before) <= kSettled * q.precision) return q;
  }
  return q;
}

// Weights exp(log_weight(u) - the largest) on a grid of u = log w.
struct TiltedPrecision {
  double mass = 0, log_scale = 0;       // integral of the weights, and the log of what they were divided by
  double mean = 0, mean_log = 0;        // of w
  double first = 0, second = 0;         // E[a(w)], E[a(w)^2 + b(w)] of a Gaussian N(a(w), b(w)) of one end, around its start

  bool is_found() const { return mass > 0 && std::isfinite(mean) && std::isfinite(mean_log); }
};

// One end given the precision w: mean and variance; `end` is what arrives there, `other` at the other.
struct EndGivenPrecision {
  Gaussian end, other;
  double variance(double w) const { return 1 / (end.rho + 1 / (other.variance() + 1 / w)); }
  double mean(double w) const {
    const double spread = other.variance() + 1 / w;
    return (end.tau + other.mean() / spread) / (end.rho + 1 / spread);
  }
};

TiltedPrecision integrate(const Gaussian& mean, const Gamma& precision, const Gaussian& value, const EndGivenPrecision* end) {
  const double spread = given(mean.variance()) + given(value.variance());
  const bool both = !mean.is_uniform() && !value.is_uniform();
  const double apart = mean.mean() - value.mean();
  const auto log_weight = [&](double u) {
    const double variance = spread + std::exp(-u);
    const double log_mass = both ? -0.5 * std::log(variance) - 0.5 * apart * apart / variance : 0.0;
    return precision.shape() * u - precision.rate() * std::exp(u) + log_mass;
  };
  // Outside of this range the gamma message alone is below exp(-100) of its largest value, or the precision below that of
  // any double.
  const double top = std::log(precision.shape() + 250) - std::log(precision.rate());
  const double bottom = std::max(-650.0, std::log(precision.shape()) - std::log(precision.rate()) - 30 - 100 / precision.shape());
  constexpr int kScan = 400, kPoints = 300;
  constexpr double kBelow = 36;  // exp(-36) is below the last digit
  double best = -kInfinity, at = bottom, low = bottom, high = top;
  const double step = (top - bottom) / kScan;
  for (int i = 0; i <= kScan; ++i)
    if (const double u = bottom + i * step, l = log_weight(u); l > best) best = l, at = u;
  for (double d = step / 8; d > 1e-3 * step; d /= 2)  // the largest value to within a fraction of a step
    for (const double u : {at - d, at + d})
      if (const double l = log_weight(u); l > best) best = l, at = u;
  for (double d = step / 64;; d *= 1.3)
    if (at - d <= bottom || log_weight(at - d) < best - kBelow) { low = std::max(bottom, at - d); break; }
  for (double d = step / 64;; d *= 1.3)
    if (at + d >= top || log_weight(at + d) < best - kBelow) { high = std::min(top, at + d); break; }
  TiltedPrecision t;
  t.log_scale = best;
  const double h = (high - low) / kPoints;
  if (!(h > 0)) return t;
  const double start = end != nullptr ? end->mean(std::exp(at)) : 0;
  for (int i = 0; i <= kPoints; ++i) {
    const double u = low + i * h, w = std::exp(u), weight = std::exp(log_weight(u) - best) * h;
    t.mass += weight;
    t.mean += weight * w;
    t.mean_log += weight * u;
    if (end == nullptr) continue;
    const double a = end->mean(w) - start;
    t.first += weight * a;
    t.second += weight * (a * a + end->variance(w));
  }
  for (double* x : {&t.mean, &t.mean_log, &t.first, &t.second}) *x /= t.mass;
  t.second -= t.first * t.first;
  t.first += start;
  return t;
}

// The shape a with log a - digamma(a) = gap, by Newton's method from Minka's start.
double shape_of(double gap) {
  double a = (3 - gap + std::sqrt((gap - 3) * (gap - 3) + 24 * gap)) / (12 * gap);
  for (int i = 0; i < 20; ++i) {
    const double f = std::log(a) - boost::math::digamma(a) - gap, slope = 1 / a - boost::math::trigamma(a);
    const double next = a - f / slope;
    if (!(next > 0) || std::abs(next - a) <= 1e-14 * a) break;
    a = next;
  }
  return a;
}

// ... to `end`, from `other` and the precision.
GaussianOrFallback by_quadrature(const Gaussian& end, const Gamma& precision, const Gaussian& other, const Gaussian& fallback) {
  if (other.is_uniform()) return GaussianOrFallback(Gaussian::uniform());
  if (end.is_point()) return GaussianOrFallback(fallback);  // whatever it is, it changes nothing there
  if (precision.is_point())
    return GaussianOrFallback(Gaussian::from_moments(other.mean(), other.variance() + 1 / precision.tau));
  if (!precision.is_proper()) return GaussianOrFallback(Gaussian::uniform());
  const EndGivenPrecision given_precision{end, other};
  const TiltedPrecision t = integrate(end, precision, other, &given_precision);
  if (t.is_found() && t.second > 0) {
    const Gaussian own = Gaussian::from_moments(t.first, t.second) / end;
    if (is_valid(own) && own.is_proper()) return GaussianOrFallback(own);
  }
  return {fallback, true};
}

}  // namespace

double GaussianPrecision::log_density(double mean, double precision, double value) {
  if (!(precision > 0)) return -kInfinity;
  const double d = value - mean;
  return 0.5 * std::log(precision) - kHalfLogTwoPi - 0.5 * precision * d * d;
}

Gaussian GaussianPrecision::Vmp::to_value(const Gaussian& mean, const Gamma& precision, const Gaussian& value) {
  const PrecisionBeliefs q = variational(mean, precision, value);
  return q.is_informed && !mean.is_uniform() ? around(q.mean, q.precision) : Gaussian::uniform();
}
Gaussian GaussianPrecision::Vmp::to_mean(const Gaussian& mean, const Gamma& precision, const Gaussian& value) {
  return to_value(value, precision, mean);
}
Gamma GaussianPrecision::Vmp::to_precision(const Gaussian& mean, const Gamma& precision, const Gaussian& value) {
  if (mean.is_uniform() || value.is_uniform()) return {};
  return {0.5, std::min(variational(mean, precision, value).half_square, AnyNatural::kLargest)};
}

GaussianOrFallback GaussianPrecision::Ep::to_value(const Gaussian& mean, const Gamma& precision, const Gaussian& value) {
  return by_quadrature(value, precision, mean, Vmp::to_value(mean, precision, value));
}
GaussianOrFallback GaussianPrecision::Ep::to_mean(const Gaussian& mean, const Gamma& precision, const Gaussian& value) {
  return to_value(value, precision, mean);
}
OrFallback<Gamma> GaussianPrecision::Ep::to_precision(const Gaussian& mean, const Gamma& precision, const Gaussian& value) {
  if (mean.is_uniform() || value.is_uniform()) return {};
  if (precision.is_proper()) {
    const TiltedPrecision t = integrate(mean, precision, value, nullptr);
    const double gap = t.is_found() ? std::log(t.mean) - t.mean_log : 0;
    if (gap > 0) {
      const double shape = shape_of(gap);
      const Gamma own(shape - 1 - precision.tau, shape / t.mean - precision.rho);
      if (Gamma::is_message(own)) return OrFallback<Gamma>(own);
    }
  }
  return {Vmp::to_precision(mean, precision, value), precision.is_proper()};
}

double GaussianPrecision::log_integral(Lanes arrivals) {
  const Gaussian mean(arrivals[0]), value(arrivals[2]);
  const Gamma precision(arrivals[1]);
  if (mean.is_uniform() && value.is_uniform()) return std::nan("");
  if (mean.is_uniform() || value.is_uniform()) return 0;  // a density of the one whatever the other
  if (precision.is_point())
    return log_overlap(Gaussian::from_moments(mean.mean(), mean.variance() + 1 / precision.tau), value);
  const TiltedPrecision t = integrate(mean, precision, value, nullptr);
  return std::log(t.mass) + t.log_scale - precision.log_normaliser() - kHalfLogTwoPi;
}

}  // namespace dma
