#include "factors/likelihoods/gaussian_precision.h"

#include <algorithm>
#include <cmath>

#include "engine/kinds/kind.h"
#include "engine/support/special_functions.h"
#include "factors/arithmetic/exponential.h"
#include "factors/authoring/peaks.h"

namespace dma {

namespace {

// The message of the factor if the other end and the precision are known.
Gaussian around(const Gaussian& other, double precision) {
  return other.is_uniform() ? Gaussian::uniform() : Gaussian::from_moments(other.mean(), 1 / precision);
}

struct PrecisionBeliefs {
  Gaussian mean, value;
  double precision = 1;    // E[w]
  double half_square = 0;  // E[(value - mean)^2] / 2
  bool is_informed = false;  // both ends and the precision have messages
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

// a log a - a - log Gamma(a): log of the maximum of gamma(a, a)'s density of log w.
double log_peak(double a) { return 0.5 * std::log(a) - kHalfLogTwoPi - stirling_rest(a); }

// F(x) - 1 / (2 x), where F(x) = log x - digamma(x) = E[exp(t) - 1 - t] under gamma(x, x) with t = log w.
double gap_tail(double x) {
  constexpr double kMany = 20;
  if (x < kMany) return std::log(x) - digamma(x) - 0.5 / x;
  const double y = 1 / (x * x);
  return y * (1.0 / 12 - y * (1.0 / 120 - y * (1.0 / 252 - y * (1.0 / 240 - y * (1.0 / 132 - y * 691 / 32760)))));
}

// Solves F(a + d) - F(a) = change for d, by Newton's method in 1 / (a + d), in which F is convex with slope 1/2 to 1.
// It never subtracts two shapes.
double shape_change(double a, double change) {
  constexpr int kLimit = 50;
  constexpr double kTiny = 1e-100;
  double d = 0, last = kInfinity;
  for (int i = 0; i < kLimit; ++i) {
    const double x = a + d;
    if (!(x > kTiny)) return std::nan("");
    const double slope = std::clamp(x * (x * trigamma(x) - 1), 0.5, 1.0);
    const double off = -0.5 * d / a / x + gap_tail(x) - gap_tail(a) - change;
    const double fraction = off * x / slope, step = x * fraction / (1 - fraction);
    if (!(std::abs(step) < 0.5 * last)) break;  // rounding
    d += step;
    last = std::abs(step);
  }
  return d;
}

// The tilted density of u = log w, exp(a u - b exp(u) + l(u)): the arriving message is gamma(a, b), and both ends, d
// apart, have l = -(log V + d^2 / V) / 2 with V = s + 1 / w, s their variances. At a peak w, in t = u - log w,
//
//   p = 1 / (1 + s w)    z = d^2 / V    l' = p (1 - z) / 2    l'' = -p ((1 - p) (1 - z) + p z) / 2
//   V(t) / V = 1 + y,    y = p (exp(-t) - 1)
//
// The reference gamma(A, A / w), A = a + D, D = l' - l'', has its peak there and the same curvature. The density is the
// reference's times exp(r),
//
//   r(t) = (a - b w) (exp(t) - 1) + D (exp(t) - 1 - t) - log(1 + y) / 2 + z y / (1 + y) / 2 = O(t^3),
//
// and the difference of both is integrated: one of a million observations changes the shape by 1/2.
class TiltedPrecision {
 public:
  TiltedPrecision(const Gaussian& mean, const Gamma& precision, const Gaussian& value, double other_variance = 0) {
    a_ = precision.shape();
    b_ = precision.rate();
    s_ = spread(mean) + spread(value);
    square_ = (mean.mean() - value.mean()) * (mean.mean() - value.mean());
    const Peaks peaks = find_tops();
    if (!peaks.empty()) integrate(peaks, other_variance);
  }

  bool is_found() const { return mass_ > 0 && std::isfinite(mass_) && moved_ > -1 && std::isfinite(gap_change_); }
  // The projection on E[w] and E[log w], minus gamma(a, b).
  Gamma own() const {
    const double d = shape_change(shape_, gap_change_);
    return {more_shape_ + d, (rest_ + more_shape_ + d - b_ * top_ * moved_) / (top_ * (1 + moved_))};
  }
  double log_integral() const {
    const double fraction = -rest_ / a_;  // b w / a - 1
    const double below =
        std::abs(fraction) < 0.5 ? log1p_minus(fraction) : std::log(b_ / a_ * top_) - fraction;
    const double at_top = a_ * below - 0.5 * (std::log(variance_) + z_) - kHalfLogTwoPi;
    return log_peak(a_) - log_peak(shape_) + at_top + std::log(mass_);
  }
  // The message to an end with N(m, v), `apart` from the other: given w it is N(m + apart, V - v), and with k = 1 / V
  // the marginal has mean m + v apart E[k] and variance v (E[1 - v k] + v apart^2 Var[k]).
  Gaussian to_end(const Gaussian& end, double apart) const {
    const double v = spread(end) / variance_, fraction = left_ + z_ * v * varied_, mean = 1 + weakened_;
    const double rho = (mean - z_ * varied_) / (variance_ * fraction);
    return {end.mean() * rho + apart * mean / (variance_ * fraction), rho};
  }

 private:
  static double spread(const Gaussian& g) { return g.is_point() ? 0 : g.variance(); }

  void move_to(double w) {
    top_ = w;
    variance_ = s_ + 1 / w;
    p_ = 1 / (1 + s_ * w);
    z_ = square_ / variance_;
    rest_ = std::fma(-b_, w, a_);
    const double late = s_ * w * p_;  // 1 - p
    slope_ = 0.5 * p_ * (1 - z_);
    more_shape_ = slope_ + 0.5 * p_ * (late * (1 - z_) + p_ * z_);
    shape_ = a_ + more_shape_;
  }
  double log_height() const { return a_ * std::log(top_) - b_ * top_ - 0.5 * (std::log(variance_) + z_); }

  // The slope of the log density is a cubic in x = s w over (1 + x)^2, positive below a / (b + d^2 / 2), negative above
  // (a + 1/2) / b. The highest peak is shifted to t = 0.
  Peaks find_tops() {
    constexpr int kNewtonSteps = 4;
    const double b = b_ / s_, square = square_ / s_;
    const double cubic[] = {a_ + 0.5, 2 * a_ - b + 0.5 - 0.5 * square, a_ - 2 * b, -b};
    Tops tops = falling_roots(cubic, a_ / (b + 0.5 * square) / 2, 2 * (a_ + 0.5) / b);
    for (double& x : tops) x /= s_;
    if (tops.empty()) tops.push_back((a_ + 0.5) / (b_ + 0.5 * square_));  // almost no spread
    double best = tops[0], height = -kInfinity;
    for (double& w : tops) {
      move_to(w);
      for (int i = 0; i < kNewtonSteps; ++i)
        move_to(top_ * (1 + std::clamp((rest_ + slope_) / (b_ * top_ + more_shape_ - slope_), -0.5, 0.5)));
      w = top_;
      if (log_height() > height) {
        best = w;
        height = log_height();
      }
    }
    move_to(best);
    if (!(shape_ > 0) || !(top_ > 0) || !std::isfinite(variance_) || !std::isfinite(z_)) return {};
    has_reference_ = shape_ >= kSharp;
    const auto log_weight = [this](double t) { return at(t).log_weight; };
    Peaks peaks;
    for (const double w : tops) peaks.push_back(peak_at(log_weight, w == best ? 0 : std::log(w / best)));
    keep_visible(peaks);
    return peaks;
  }

  struct Point {
    double growth, excess, fade, y;  // exp(t) - 1, exp(t) - 1 - t, exp(-t), y
    double more, log_weight;         // exp(r) - 1; the log density plus, if used, the reference
  };
  Point at(double t) const {
    constexpr double kAll = 40;  // beyond it the reference is negligible
    const double growth = std::expm1(t), excess = Exponential::excess(t);
    const double fade = t > -1 ? 1 / (1 + growth) : std::exp(-t), y = t > -1 ? -p_ * growth * fade : p_ * (fade - 1);
    const double log = y > -0.5 ? std::log1p(y) : std::log(s_ * top_ * p_ + p_ * fade);
    const double r = rest_ * growth + more_shape_ * excess - 0.5 * log + 0.5 * z_ * y / (1 + y);
    if (!has_reference_) return {growth, excess, fade, y, 0, r - shape_ * excess};
    const double more = std::expm1(std::min(r, kAll));
    return {growth, excess, fade, y, more, (r < kAll ? std::log(2 + more) : r) - shape_ * excess};
  }

  // Nodes are chosen for the sum of the density and the reference, (1 + exp(r)) times the reference.
  void integrate(const Peaks& peaks, double other_variance) {
    const auto weight = [this](double t) { return at(t).log_weight; };
    const LogFactor log_weight(weight);
    PeakedIntegral integral(log_weight, peaks, kTolerance);
    double all = 0, more = 0, moved = 0, bent = 0, weaker = 0, square = 0, left = 0;
    integral.for_each_node([&](double t, double fraction) {
      const Point point = at(t);
      const double of_reference = fraction / (2 + point.more);
      const double own = has_reference_ ? of_reference * (1 + point.more) : fraction;
      const double difference = has_reference_ ? of_reference * point.more : fraction;
      const double stays = 1 / (1 + point.y), weakens = -point.y * stays;
      all += own;
      more += difference;
      moved += difference * point.growth;
      bent += difference * point.excess;
      weaker += own * weakens;
      square += own * weakens * weakens;
      left += own * stays * (other_variance / variance_ + p_ * point.fade);
    });
    const double scale = std::exp(integral.highest().height + log_peak(shape_));
    mass_ = (has_reference_ ? 1 : 0) + scale * more;
    moved_ = scale * moved / mass_;
    const double gap = gap_tail(shape_) + 0.5 / shape_;
    gap_change_ = moved_ > -1 ? log1p_minus(moved_) + scale * (bent - more * gap) / mass_ : 0;
    weakened_ = weaker / all;
    left_ = left / all;
    varied_ = square / all - weakened_ * weakened_;
  }

  static constexpr double kTolerance = 1e-10;
  static constexpr double kSharp = 20;  // from this shape on a difference of integrals is more accurate
  double a_, b_, s_, square_;           // the arriving messages; square_ is d^2
  double top_, variance_, p_, z_, rest_, slope_, more_shape_, shape_;  // w, V, p, z, a - b w, l', D and A
  bool has_reference_ = false;
  double mass_ = 0;                              // mass of the density, in units of the reference's
  double moved_ = 0, gap_change_ = 0;            // E[exp(t)] - 1; log E[w] - E[log w] minus F(A)
  double weakened_ = 0, varied_ = 0, left_ = 0;  // E and Var of V / V(t) - 1; E[1 - v / V(t)]
};

// ... to `end`, from `other` and the precision.
GaussianOrFallback to_end_by_quadrature(const Gaussian& end, const Gamma& precision, const Gaussian& other) {
  if (other.is_uniform()) return GaussianOrFallback(Gaussian::uniform());
  if (precision.is_point())
    return GaussianOrFallback(Gaussian::from_moments(other.mean(), other.variance() + 1 / precision.tau));
  if (!precision.is_proper()) return GaussianOrFallback(Gaussian::uniform());
  if (end.is_proper()) {
    const TiltedPrecision tilted(end, precision, other, other.is_point() ? 0 : other.variance());
    const Gaussian own = tilted.is_found() ? tilted.to_end(end, other.mean() - end.mean()) : Gaussian::uniform();
    if (is_valid(own) && own.is_proper()) return GaussianOrFallback(own);
  } else if (end.is_uniform() && precision.shape() > 1) {  // E[1 / w] is finite
    const double noise = precision.rate() / (precision.shape() - 1);
    return GaussianOrFallback(Gaussian::from_moments(other.mean(), other.variance() + noise));
  }
  // Any message leaves a known end unchanged.
  return {GaussianPrecision::Vmp::to_value(other, precision, end), !end.is_point()};
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

GaussianOrFallback GaussianPrecision::Ep::to_value(const Gaussian& mean, const Gamma& precision,
                                                   const Gaussian& value) {
  return to_end_by_quadrature(value, precision, mean);
}
GaussianOrFallback GaussianPrecision::Ep::to_mean(const Gaussian& mean, const Gamma& precision, const Gaussian& value) {
  return to_end_by_quadrature(mean, precision, value);
}
OrFallback<Gamma> GaussianPrecision::Ep::to_precision(const Gaussian& mean, const Gamma& precision,
                                                      const Gaussian& value) {
  if (mean.is_uniform() || value.is_uniform()) return {};
  const bool are_known = mean.is_point() && value.is_point();  // vmp's message is then exact
  if (precision.is_proper() && !are_known) {
    const TiltedPrecision tilted(mean, precision, value);
    const Gamma own = tilted.is_found() ? tilted.own() : Gamma(std::nan(""), 0);
    if (Gamma::is_message(own)) return OrFallback<Gamma>(own);
  }
  return {Vmp::to_precision(mean, precision, value), precision.is_proper() && !are_known};
}

double GaussianPrecision::expected_log(Components beliefs) {
  const Gaussian mean(beliefs[0]), value(beliefs[2]);
  const Gamma precision(beliefs[1]);
  const double apart = value.mean() - mean.mean(), square = apart * apart + mean.variance() + value.variance();
  return 0.5 * (precision.mean_log() - precision.mean() * square) - kHalfLogTwoPi;
}

double GaussianPrecision::log_integral(Components arrivals) {
  const Gaussian mean(arrivals[0]), value(arrivals[2]);
  const Gamma precision(arrivals[1]);
  if (mean.is_uniform() && value.is_uniform()) return std::nan("");
  if (mean.is_uniform() || value.is_uniform()) return 0;  // a normalised density of one end, for any value of the other
  if (precision.is_point())
    return log_overlap(Gaussian::from_moments(mean.mean(), mean.variance() + 1 / precision.tau), value);
  if (!precision.is_proper()) return std::nan("");
  const TiltedPrecision tilted(mean, precision, value);
  return tilted.is_found() ? tilted.log_integral() : std::nan("");
}

Kind gaussian_precision_kind() {
  return kind("gaussian_precision", "N(value; mean, 1 / precision)")
      .input("mean")
      .input("precision", "gamma")
      .output("value")
      .precision_port("precision")
      .log_density([](auto v, auto) { return GaussianPrecision::log_density(v[0], v[1], v[2]); })
      .log_integral([](auto m, auto) { return GaussianPrecision::log_integral(m); })
      .expected_log([](auto q, auto) { return GaussianPrecision::expected_log(q); })
      .message<&GaussianPrecision::Ep::to_value>("ep", "value", from("mean", "precision", "value"))
      .message<&GaussianPrecision::Ep::to_mean>("ep", "mean", from("mean", "precision", "value"))
      .message<&GaussianPrecision::Ep::to_precision>("ep", "precision", from("mean", "precision", "value"))
      .message<&GaussianPrecision::Vmp::to_value>("vmp", "value", from("mean", "precision", "value"))
      .message<&GaussianPrecision::Vmp::to_mean>("vmp", "mean", from("mean", "precision", "value"))
      .message<&GaussianPrecision::Vmp::to_precision>("vmp", "precision", from("mean", "precision", "value"));
}

}  // namespace dma
