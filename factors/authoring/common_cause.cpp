#include "factors/authoring/common_cause.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/support/lent.h"
#include "engine/support/quadrature.h"
#include "factors/authoring/normal.h"
#include "factors/authoring/tilted.h"

namespace dma {

namespace {

constexpr double kBelow = 40;  // a weight so many nats below its mode is negligible
constexpr double kLargestSlope = 1e300;
constexpr int kMostDoublings = 2000;  // more than the range of a double

// Weighted sums of moments, taken relative to the first ones given.
class AveragedMoments {
 public:
  explicit AveragedMoments(const PartMoments& about) : about_(about.mean) {}
  void add(double weight, const PartMoments& m) {
    const double off = m.mean - about_;
    mass_ += weight;
    first_ += weight * off;
    less_ += weight * (m.less - off * off);
  }
  double mass() const { return mass_; }
  PartMoments result() const {
    const double off = first_ / mass_;
    return {about_ + off, less_ / mass_ + off * off};
  }

 private:
  double about_, mass_ = 0, first_ = 0, less_ = 0;
};

// The log of the integral of a log-concave function, and the average of moments(z) under it, from points `step` apart,
// outwards from near its mode.
template <class LogAt, class MomentsAt>
std::pair<double, PartMoments> sum_outwards(double centre, double step, const LogAt& log_at, const MomentsAt& moments) {
  constexpr int kMostPoints = 1000;  // an ordinary width takes 40 points, the longest tails 200
  const double top = log_at(centre);
  AveragedMoments sum(moments(centre));
  for (const double way : {step, -step})
    for (int i = way > 0 ? 0 : 1; i < kMostPoints; ++i) {
      const double z = centre + way * i, weight = std::exp(log_at(z) - top);
      if (!(weight > 1e-17)) break;
      sum.add(weight, moments(z));
    }
  return {top + std::log(sum.mass() * step), sum.result()};
}

}  // namespace

Part::Part(Form form, const Gaussian& x, double noise, double count)
    : form_(form),
      mean_(x.mean() - (count > 0 ? std::log(count) : 0)),
      variance_(x.variance()),
      noise_(noise),
      sd_(std::sqrt(variance_ + noise)),
      count_(count),
      log_count_(count > 0 ? std::log(count) : 0) {
  // Widths for the trapezoidal rule: exp(-exp(z)) acts like a Gaussian of half its unit, a logistic density like one of
  // its unit.
  const double own = form == Form::logistic ? 1 : form == Form::events ? 0.5 / std::sqrt(std::max(1.0, count)) : 0;
  width_ = std::hypot(sd_, own);
}

// For z = x - u, minus the log of a count above 0: log f, its slope, and its curvature.
double Part::log_noise(double z) const {
  constexpr double kSmall = 1e-3;  // the series is accurate to 1e-17 below this
  if (form_ == Form::logistic) return -std::abs(z) - 2 * std::log1p(std::exp(-std::abs(z)));
  if (count_ == 0) return -std::exp(z);
  if (std::abs(z) > kSmall) return -count_ * (std::expm1(z) - z);
  return -count_ * z * z * (0.5 + z * (1.0 / 6 + z * (1.0 / 24 + z * (1.0 / 120 + z / 720))));
}
double Part::slope_of_noise(double z) const {
  if (form_ == Form::logistic) return -std::tanh(0.5 * z);
  return count_ == 0 ? -std::exp(z) : -count_ * std::expm1(z);
}
double Part::bend_of_noise(double z) const {
  if (form_ == Form::events) return std::exp(z) * (count_ == 0 ? 1 : count_);
  const double half = 1 / std::cosh(0.5 * z);
  return 0.5 * half * half;
}

// exp(-exp(x - u)) is the probability that x - u < e under the density exp(e - exp(e)): for wide x, an integral over e
// of cut Gaussians.
Part::Inner Part::without_events(double mu) const {
  const double centre = std::log1p(normal::hazard(-mu / sd_) / sd_), step = 0.25 / std::sqrt(std::exp(centre));
  const auto at = [&](double e) { return (e - mu) / sd_; };
  const auto [log, of] = sum_outwards(
      centre, step, [&](double e) { return e - std::exp(e) + normal::log_distribution(at(e)); },
      [&](double e) { return PartMoments{-normal::hazard(at(e)), 1 - normal::truncated_variance(at(e))}; });
  return {log, of};
}

const Part::Inner& Part::inner(double d) const {
  constexpr double kWide = 3;
  if (d == at_) return kept_;
  at_ = d;
  const double mu = -d;
  if (sd_ == 0) return kept_ = {log_noise(mu), {}};
  if (form_ == Form::events && count_ == 0 && sd_ > kWide) return kept_ = without_events(mu);
  // Integrates in the coordinate z if x is wide, and in that of x if it is narrow or far below the range of f: z = from
  // + by s, (x - mean) / sd = (s - at) / of.
  const double in_widths = sd_ * std::sqrt(std::max(1.0, count_));
  const bool is_narrow = in_widths < 1 || (form_ == Form::events && count_ == 0 && mu < -10);
  // For such narrow x log f is a parabola: the sums below would lose digits of the mean.
  if (constexpr double kParabola = 3e-6; in_widths < kParabola) {
    const double slope = sd_ * slope_of_noise(mu), bend = variance_ * bend_of_noise(mu);
    if (bend < kParabola)
      return kept_ = {log_noise(mu) + 0.5 * (slope * slope / (1 + bend) - std::log1p(bend)),
                      {slope / (1 + bend), bend / (1 + bend)}};
  }
  const double from = is_narrow ? mu : 0, by = is_narrow ? sd_ : 1, at = is_narrow ? 0 : mu, of = is_narrow ? 1 : sd_;
  const auto z_of = [&](double s) { return from + by * s; };
  const auto x_of = [&](double s) { return (s - at) / of; };
  // Newton's method from a start at which it cannot overshoot.
  const double most = std::log1p(count_ + std::max(0.0, mu + log_count_) / variance_) - log_count_;
  double s = form_ == Form::logistic ? -from / by
             : is_narrow             ? std::min(sd_ * count_, (most - mu) / sd_)
                                     : std::min(mu + variance_ * count_, most);
  double width = of;
  for (int i = 0; i < 200; ++i) {
    const double bend = 1 / (of * of) + by * by * bend_of_noise(z_of(s)),
                 step = (by * slope_of_noise(z_of(s)) - x_of(s) / of) / bend;
    width = 1 / std::sqrt(bend);
    if (!std::isfinite(step)) break;
    s += step;
    if (std::abs(step) < 0.01 * width) break;
  }
  // Steps with an error of 1e-13: exp(-2 pi d / step) for a function that is analytic up to the distance d from the
  // real line, pi / 2 for exp(-exp(z)) and pi for the logistic density.
  const double step = std::min(0.6 * width, (form_ == Form::logistic ? 0.66 : 0.33) / by);
  kept_ = {-kInfinity, {-kInfinity, -kInfinity}};
  if (!(step > 0 && std::isfinite(s))) return kept_;
  const auto [log, moments] = sum_outwards(
      s, step, [&](double t) { return -0.5 * x_of(t) * x_of(t) + log_noise(z_of(t)); },
      [&](double t) { return PartMoments{x_of(t), 1}; });
  if (std::isfinite(log)) kept_ = {log - std::log(normal::kSqrtTwoPi * of), moments};
  return kept_;
}

double Part::log_value(double d) const {
  switch (form_) {
    case Form::density: return -0.5 * (d / sd_) * (d / sd_) - std::log(normal::kSqrtTwoPi) - std::log(sd_);
    case Form::below: return sd_ == 0 ? 0 : normal::log_distribution(d / sd_);
    case Form::above: return sd_ == 0 ? 0 : normal::log_distribution(-d / sd_);
    default: return inner(d).log;
  }
}

// For the forms with noise: by parts, the slope of E[f(x - u)] is -E[z] / sd.
double Part::slope(double d) const {
  switch (form_) {
    case Form::density: return -d / sd_ / sd_;
    case Form::below: return sd_ == 0 ? 0 : normal::hazard(d / sd_) / sd_;
    case Form::above: return sd_ == 0 ? 0 : -normal::hazard(-d / sd_) / sd_;
    default: return sd_ == 0 ? -slope_of_noise(-d) : -inner(d).of.mean / sd_;
  }
}

PartMoments Part::moments(double d) const {
  if (is_integral()) return inner(d).of;
  if (sd_ == 0) return {};
  if (form_ == Form::density) return {d / sd_, 1};
  const double side = form_ == Form::below ? 1 : -1, z = side * d / sd_;
  return {-side * normal::hazard(z), 1 - normal::truncated_variance(z)};
}

// x given x + noise is Gaussian, with a mean that is linear in it.
GaussianOrFallback Part::message(const PartMoments& wanted, const Gaussian& arrived) const {
  if (variance_ == 0) return {};
  const double fraction = variance_ / (variance_ + noise_), mean = std::sqrt(fraction) * wanted.mean,
               variance = noise_ / (variance_ + noise_) + fraction * (1 - wanted.less);
  // Near the limits of a double these may be NaN: the message is uniform and counted as replaced.
  if (!(variance > 0) || !std::isfinite(mean / variance)) return {Gaussian::uniform(), true};
  return tilted_message({.found = true,
                         .log_mass = 0,
                         .mean = mean,
                         .tau = mean / variance,
                         .rho = fraction * wanted.less / variance},
                        arrived);
}

CommonCause::CommonCause(std::span<const Part> parts) : parts_(parts) {
  // The narrowest part: wider ones need less resolution.
  const Part& origin = *std::ranges::min_element(
      parts, {}, [](const Part& part) { return part.width() > 0 ? part.width() : kInfinity; });
  unit_ = origin.width();
  for (const Part& part : parts) {
    from_origin_.push_back(origin.mean() - part.mean());
    if (part.width() > 0) continue;
    const double at = -from_origin_.back() / unit_;
    if (part.form() == Part::Form::below) low_ = std::max(low_, at);
    if (part.form() == Part::Form::above) high_ = std::min(high_, at);
  }
  if (low_ < high_) find_mode();
}

double CommonCause::log_weight(double t) const {
  double sum = std::log(unit_);
  for (std::size_t k = 0; k < parts_.size(); ++k) sum += parts_[k].log_value(offset(k, t));
  return std::isnan(sum) ? -kInfinity : sum;
}
double CommonCause::slope(double t) const {
  double sum = 0;
  for (std::size_t k = 0; k < parts_.size(); ++k) sum += unit_ * parts_[k].slope(offset(k, t));
  return std::clamp(sum, -kLargestSlope, kLargestSlope);
}

void CommonCause::find_mode() {
  double near = std::clamp(0.0, low_, high_), far = near;
  const double start = near, way = slope(start) < 0 ? -1 : 1;
  double at_near = slope(start), at_far = at_near;
  for (int i = 0; i < kMostDoublings && at_far * way > 0; ++i) {
    near = far;
    at_near = at_far;
    far = std::clamp(start + way * std::ldexp(1.0, i), low_, high_);
    at_far = slope(far);
    if (far == near) break;
  }
  mode_ = far;
  if (at_near * at_far < 0) {  // only for finite values: a part may be as wide as a double allows
    if (way < 0) {
      std::swap(near, far);
      std::swap(at_near, at_far);
    }
    const auto slope_at = [this](double t) { return slope(t); };
    mode_ = quadrature::bracket_root(slope_at, near, far, at_near, at_far, 50).middle();
  }
  top_ = log_weight(mode_);
}

// The distance from the mode at which the weight has fallen by kBelow, rounded up; or the distance to a step.
double CommonCause::reach(double direction) const {
  const double end = direction < 0 ? mode_ - low_ : high_ - mode_;
  const auto is_near = [&](double way) { return log_weight(mode_ + direction * way) > top_ - kBelow; };
  double near = 0, far = std::min(end, std::sqrt(2 * kBelow));
  while (far < end && is_near(far)) {
    near = far;
    far = std::min(end, 2 * far);
  }
  if (far == end && is_near(end)) return end;
  while (far - near > 0.1 * far && far > 1e-300) {
    const double middle = 0.5 * (near + far);
    (is_near(middle) ? near : far) = middle;
  }
  return far;
}

// The relevant range, and the number of points of the trapezoidal rule there: its error is exp(-2 (pi w / step)^2) for
// a part of width w, less than 1e-23 with 1.6 steps. If that takes too many points, the range is cut on both sides of
// each narrow part, and at the mode: a panel's points miss a step beyond the last of them. Returns the number of
// points, or 0 for panels.
int CommonCause::cut(std::vector<double>& ends) const {
  constexpr double kWidths = 9;  // beyond nine standard deviations a step is within 1e-19 of its limit
  constexpr double kLeastPoints = 40, kMostPoints = 240, kPerWidth = 1.6;
  const double low = mode_ - reach(-1), high = mode_ + reach(1), range = high - low;
  ends = {low, high};
  double wanted = kLeastPoints;
  for (std::size_t k = 0; k < parts_.size(); ++k) {
    const double width = parts_[k].width() / unit_, at = -from_origin_[k] / unit_;
    if (at + kWidths * width < low || at - kWidths * width > high || width == 0) continue;
    wanted = std::max(wanted, kPerWidth * range / width);
    for (const double t : {at - kWidths * width, at + kWidths * width})
      if (kPerWidth * range > kMostPoints / 2 * width && t > low && t < high) ends.push_back(t);
  }
  if (wanted > kMostPoints || low == low_ || high == high_) {
    ends.push_back(mode_);
    std::ranges::sort(ends);
    return 0;
  }
  return static_cast<int>(wanted);
}

// visit(t, weight) over the relevant range; the weights are scaled by exp(-result). With panels, each is halved until
// its mass is accurate, and with `of_moments` also one moment of all parts.
template <class Visit>
double CommonCause::integrate(bool of_moments, const Visit& visit) const {
  Lent<double> lent;
  std::vector<double>& ends = *lent;
  const int points = cut(ends);
  const auto weight = [&](double t) { return std::exp(log_weight(t) - top_); };
  double mass = 0;
  const auto take = [&](double t, double part) {
    mass += part;
    if (part > 0) visit(t, part);
  };
  if (points > 0) {
    const double step = (ends[1] - ends[0]) / points;
    for (int i = 0; i <= points; ++i) take(ends[0] + i * step, step * weight(ends[0] + i * step));
    return top_ + std::log(mass);
  }
  // Accuracy left by the logarithm of a small weight, as a panel's error estimate sees it.
  double size = 0, finest = 1e-14;
  for (std::size_t k = 0; k < parts_.size(); ++k) {
    size += std::abs(parts_[k].log_value(offset(k, mode_)));
    if (parts_[k].is_integral()) finest = 1e-12;
  }
  const double tolerance = std::max(finest, std::pow(200 * 1e-16 * size, 1.5));
  constexpr std::size_t kHalvingsPerPart = 200;  // a step as narrow as a double resolves takes half of this
  std::vector<quadrature::Panel> panels;
  double whole = 0;
  for (std::size_t i = ends.size() - 1; i > 0; --i) {
    panels.emplace_back(weight, ends[i - 1], ends[i]);
    whole += panels.back().estimate().value;
  }
  const auto is_known = [&](const quadrature::Panel& panel) {
    if (panel.estimate().error > tolerance * whole) return false;
    for (std::size_t k = 0; of_moments && k < parts_.size(); ++k) {
      const Part::Form form = parts_[k].form();
      if (form == Part::Form::density) continue;
      const auto [value, error] = panel.estimate([&](double t) {
        const PartMoments m = parts_[k].moments(offset(k, t));
        return form == Part::Form::below || form == Part::Form::above ? std::abs(m.mean) : 1 - m.less;
      });
      if (error > tolerance * (whole + value)) return false;
    }
    return true;
  };
  for (std::size_t halvings = kHalvingsPerPart * parts_.size(); !panels.empty();) {
    const quadrature::Panel panel = panels.back();
    panels.pop_back();
    if (halvings > 0 && !is_known(panel)) {
      --halvings;
      const double middle = 0.5 * (panel.low + panel.high);
      panels.emplace_back(weight, middle, panel.high);
      panels.emplace_back(weight, panel.low, middle);
    } else {
      for (const auto& point : panel.points) take(point.x, point.kronrod * point.value);
    }
  }
  return top_ + std::log(mass);
}

double CommonCause::log_mass() const {
  return top_ == -kInfinity ? top_ : integrate(false, [](double, double) {});
}

std::vector<PartMoments> CommonCause::moments() const {
  if (top_ == -kInfinity) return std::vector<PartMoments>(parts_.size(), {std::nan(""), std::nan("")});
  std::vector<AveragedMoments> sums;
  for (std::size_t k = 0; k < parts_.size(); ++k) sums.emplace_back(parts_[k].moments(offset(k, mode_)));
  (void)integrate(true, [&](double t, double weight) {
    for (std::size_t k = 0; k < parts_.size(); ++k) sums[k].add(weight, parts_[k].moments(offset(k, t)));
  });
  std::vector<PartMoments> out;
  for (const AveragedMoments& sum : sums) out.push_back(sum.result());
  return out;
}

}  // namespace dma
