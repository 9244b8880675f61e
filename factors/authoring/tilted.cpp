#include "factors/authoring/tilted.h"

#include <algorithm>
#include <array>
#include <boost/container/static_vector.hpp>
#include <cmath>
#include <limits>
#include <optional>

#include "engine/support/quadrature.h"
#include "factors/authoring/normal.h"

namespace dma {

namespace {

// Relative to the highest peak, exp(-40) = 4e-18 is below rounding.
constexpr double kNegligible = 40;
// A top is known well enough once the weight falls by no more than this (in logarithms) to the ends of its bracket.
constexpr double kResolved = 0.02;
// The panels next to a top end where the weight has fallen by two standard deviations' worth.
constexpr double kShoulder = 2;
constexpr std::size_t kMostPeaks = 6, kMostPanels = 96;
constexpr int kMostSteps = 200, kDepth = 40, kMostSplits = 300;
// The scan: t = sinh(u) for u up to 12, that is 80,000 standard deviations out.
constexpr int kScanSide = 24;
constexpr double kScanStep = 0.5;
constexpr std::size_t kMostHints = 8;
// How far f is looked at to tell whether it varies at all, and the variation of log f below which rounding would exceed
// the error of derivatives by differences (both are then about 1e-8 of the message).
constexpr double kLooks[] = {1, 3, 8}, kWeak = 1e-7;
// Of the precision that arrives: what a message has whose own would be negative.
constexpr double kLeastShare = 1e-6;

struct Peak {
  double at, height, left, right;  // the bracket of its top
};

class TiltedWeight {
 public:
  explicit TiltedWeight(const LogFactor& f) : f_(f) {}
  double operator()(double t) const {
    const double log = f_(t) - 0.5 * t * t;
    return std::isnan(log) ? -kInfinity : log;
  }

  // From a point no lower than its neighbours at left and right: to the top, by golden section.
  Peak climb(double left, double at, double right) const {
    constexpr double kGolden = 0.38196601125010515;
    double height = (*this)(at), left_height = (*this)(left), right_height = (*this)(right);
    for (int i = 0; i < kMostSteps && height - std::min(left_height, right_height) > kResolved; ++i) {
      const bool is_right = right - at > at - left;
      const double next = is_right ? at + kGolden * (right - at) : at - kGolden * (at - left);
      if (next == at || next == left || next == right) break;
      const double next_height = (*this)(next);
      if (next_height > height) {
        (is_right ? left : right) = at, (is_right ? left_height : right_height) = height;
        at = next, height = next_height;
      } else {
        (is_right ? right : left) = next, (is_right ? right_height : left_height) = next_height;
      }
    }
    return {at, height, left, right};
  }

 private:
  const LogFactor& f_;
};

using Peaks = boost::container::static_vector<Peak, kMostPeaks>;

Peaks find_peaks(const TiltedWeight& weight, std::span<const double> hints) {
  boost::container::static_vector<double, 2 * kScanSide + 1 + 3 * kMostHints> points;
  for (int i = -kScanSide; i <= kScanSide; ++i) points.push_back(std::sinh(kScanStep * i));
  for (const double hint : hints.first(std::min(hints.size(), kMostHints)))
    // Far out, one side of it may be cut off, and rounding decides on which side it comes to lie.
    for (const double beside : {1 - 1e-9, 1.0, 1 + 1e-9})
      if (std::abs(hint) < 1e150) points.push_back(beside * hint);
  std::ranges::sort(points);
  points.erase(std::unique(points.begin(), points.end()), points.end());
  boost::container::static_vector<double, points.static_capacity> heights;
  for (const double t : points) heights.push_back(weight(t));
  Peaks peaks;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const bool rises = i == 0 || heights[i] > heights[i - 1],
               falls = i + 1 == points.size() || heights[i] >= heights[i + 1];
    if (!rises || !falls || heights[i] == -kInfinity) continue;
    // Beyond the ends of the scan: as far as it goes up.
    double left = i > 0 ? points[i - 1] : 2 * points[i] - 1,
           right = i + 1 < points.size() ? points[i + 1] : 2 * points[i] + 1;
    double at = points[i];
    for (int k = 0; i == 0 && k < kMostSteps && weight(left) > weight(at); ++k) right = at, at = left, left *= 2;
    for (int k = 0; i + 1 == points.size() && k < kMostSteps && weight(right) > weight(at); ++k)
      left = at, at = right, right *= 2;
    const Peak peak = weight.climb(left, at, right);
    if (peaks.size() == kMostPeaks) {
      const auto lowest = std::ranges::min_element(peaks, {}, &Peak::height);
      if (lowest->height < peak.height)
        peaks.erase(lowest);
      else
        continue;
    }
    peaks.push_back(peak);
  }
  double top = -kInfinity;
  for (const Peak& peak : peaks) top = std::max(top, peak.height);
  peaks.erase(
      std::remove_if(peaks.begin(), peaks.end(), [&](const Peak& peak) { return peak.height < top - kNegligible; }),
      peaks.end());
  return peaks;
}

using Breaks = boost::container::static_vector<double, kMostPanels + 1>;

// Where f ends between a point inside of its support and one outside: a panel that reached beyond might miss it.
double end_of_support(const TiltedWeight& weight, double inside, double outside) {
  constexpr int kHalvings = 60;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = 0.5 * (inside + outside);
    (weight(middle) == -kInfinity ? outside : inside) = middle;
  }
  return inside;
}

// The ends of the panels on one side of a peak, up to where nothing is left or the next peak's begin.
void add_breaks(const TiltedWeight& weight, const Peak& peak, double step, double top, double limit, Breaks& breaks) {
  const double side = step < 0 ? -1 : 1;
  const double least = 1e-15 * (1 + std::abs(peak.at));
  if (std::abs(step) < least) step = side * least;
  bool is_shoulder = false;
  double inside = peak.at;
  for (int i = 0; i < kMostSteps && breaks.size() < breaks.capacity(); ++i) {
    const double at = peak.at + step;
    if (side * at >= side * limit) return;
    const double height = weight(at);
    if (height == -kInfinity) return breaks.push_back(end_of_support(weight, inside, at));
    inside = at;
    is_shoulder |= height < peak.height - kShoulder;
    if (is_shoulder) breaks.push_back(at);
    if (height < top - kNegligible) return;
    step *= is_shoulder ? 4 : 2;
  }
}

struct Sums {
  double mass = 0, first = 0, second = 0;
  void add(const quadrature::Panel& panel, double centre) {
    for (const auto& p : panel.points) {
      const double share = p.kronrod * p.value, off = p.x - centre;
      mass += share, first += share * off, second += share * off * off;
    }
  }
};

class Integral {
 public:
  Integral(const TiltedWeight& weight, const Peak& highest, double tolerance)
      : weight_(weight), top_(highest.height), tolerance_(tolerance), centre_(highest.at) {}

  auto value() const {
    return [this](double t) { return std::exp(weight_(t) - top_); };
  }
  // What is to be known well: the mass, and how it spreads.
  auto size() const {
    return [this](double t) { return 1 + (t - centre_) * (t - centre_) * per_square_; };
  }

  Sums over(const Breaks& breaks) {
    boost::container::static_vector<quadrature::Panel, kMostPanels> panels;
    for (std::size_t i = 0; i + 1 < breaks.size(); ++i) panels.emplace_back(value(), breaks[i], breaks[i + 1]);
    Sums rough;
    for (const auto& panel : panels) rough.add(panel, centre_);
    const double off = rough.first / rough.mass, square = rough.second / rough.mass - off * off;
    centre_ += off;
    per_square_ = square > 0 ? 1 / square : 0;
    for (const auto& panel : panels) whole_ += panel.estimate(size()).value;
    for (const auto& panel : panels) refine(panel, kDepth);
    return sums_;
  }
  double centre() const { return centre_; }

 private:
  void refine(const quadrature::Panel& panel, int depth) {
    if (panel.estimate(size()).error <= tolerance_ * whole_ || depth == 0 || ++splits_ > kMostSplits)
      return sums_.add(panel, centre_);
    const double middle = 0.5 * (panel.low + panel.high);
    refine(quadrature::Panel(value(), panel.low, middle), depth - 1);
    refine(quadrature::Panel(value(), middle, panel.high), depth - 1);
  }

  const TiltedWeight& weight_;
  double top_, tolerance_, centre_, per_square_ = 0, whole_ = 0;
  int splits_ = 0;
  Sums sums_;
};

// log f from a step to either side, and how much it varies over it.
struct Differences {
  double step, slope, bend, variation;
  bool is_finite;
  Differences(const LogFactor& f, double at_0, double s) : step(s) {
    const double above = f(s), below = f(-s), odd = 0.5 * (above - below), even = above - 2 * at_0 + below;
    slope = odd / s, bend = even / (s * s);
    variation = odd * odd + std::abs(even);
    is_finite = std::isfinite(above) && std::isfinite(below);
  }
};

// Where log f is linear or quadratic to within rounding over the width of phi. The step is widened until f varies
// visibly.
std::optional<Tilted> weak_tilt(const LogFactor& f) {
  constexpr int kWidenings = 40;
  const double at_0 = f(0);
  if (!std::isfinite(at_0)) return {};
  std::optional<Differences> d;
  for (const double look : kLooks) {
    d.emplace(f, at_0, look);
    if (!d->is_finite || !(d->variation < kWeak)) return {};
  }
  for (int i = 0; i < kWidenings && d->variation < kWeak; ++i) {
    const Differences wider(f, at_0, 4 * d->step);
    if (!wider.is_finite) break;
    d = wider;
  }
  if (d->variation < kWeak) d->slope = d->bend = 0;
  return Tilted{.found = true,
                .log_mass = at_0 - 0.5 * std::log1p(-d->bend) + 0.5 * d->slope * d->slope / (1 - d->bend),
                .mean = d->slope / (1 - d->bend),
                .tau = d->slope,
                .rho = -d->bend};
}

}  // namespace

Tilted tilt(const LogFactor& log_f, std::span<const double> hints, double tolerance) {
  if (const auto weak = weak_tilt(log_f)) return *weak;
  const TiltedWeight weight(log_f);
  const Peaks peaks = find_peaks(weight, hints);
  if (peaks.empty()) return {};
  const Peak highest = *std::ranges::max_element(peaks, {}, &Peak::height);
  const double top = highest.height;
  if (!std::isfinite(top)) return {};
  Breaks breaks;
  for (std::size_t i = 0; i < peaks.size(); ++i) {
    const Peak& peak = peaks[i];
    if (breaks.size() < breaks.capacity()) breaks.push_back(peak.at);
    add_breaks(weight, peak, peak.left - peak.at, top, i > 0 ? peaks[i - 1].at : -kInfinity, breaks);
    add_breaks(weight, peak, peak.right - peak.at, top, i + 1 < peaks.size() ? peaks[i + 1].at : kInfinity, breaks);
  }
  std::ranges::sort(breaks);
  Integral integral(weight, highest, tolerance);
  const Sums sums = integral.over(breaks);
  const double off = sums.first / sums.mass;
  double mean = integral.centre() + off, variance = sums.second / sums.mass - off * off;
  // Narrower than numbers of its size can tell: at the top, as narrow as they can.
  const double finest = 4 * std::numeric_limits<double>::epsilon() * std::abs(highest.at);
  double log_mass = top + std::log(sums.mass * normal::kInverseSqrtTwoPi);
  if (!(variance > finest * finest) || !std::isfinite(variance) || !std::isfinite(mean)) {
    if (finest == 0) return {};
    mean = highest.at, variance = finest * finest, log_mass = top + std::log(finest);
  }
  return {.found = true, .log_mass = log_mass, .mean = mean, .tau = mean / variance, .rho = (1 - variance) / variance};
}

GaussianOrFallback tilted_message(const Tilted& tilted, const Gaussian& arrived) {
  constexpr double kRounding = 1e-13;
  if (!tilted.found) return GaussianOrFallback(Gaussian(std::nan(""), std::nan("")));
  double tau_t = tilted.tau, rho_t = tilted.rho;
  if (std::abs(rho_t) <= kRounding && std::abs(tau_t) <= kRounding) return GaussianOrFallback(Gaussian::uniform());
  const bool widens = rho_t < -kRounding;
  if (!(rho_t > 0)) rho_t = kLeastShare, tau_t = tilted.mean * (1 + kLeastShare);
  const double rho = rho_t * arrived.rho, tau = tau_t * std::sqrt(arrived.rho) + arrived.mean() * rho;
  return {closed(tau, rho, [&] { return tau / rho; }), widens};
}

}  // namespace dma
