#include "factors/authoring/peaks.h"

#include <algorithm>
#include <utility>

namespace dma {

namespace {

// Relative to the highest peak, exp(-40) = 4e-18 is below rounding.
constexpr double kNegligible = 40;
// The first panels on each side of a peak end where the weight has fallen as a Gaussian's at two standard deviations.
constexpr double kShoulder = 2;
constexpr int kMostBreaks = 200;
constexpr double kTop = 1e-9;  // fall from a peak to the ends of its bracket

}  // namespace

Peak peak_at(const LogFactor& log_weight, double at) {
  constexpr double kResolved = 0.1, kFirstStep = 1, kShorter = 0.25;
  constexpr int kShortenings = 30;  // to 1e-18
  const double height = log_weight(at);
  const auto bracket = [&](double side) {
    double step = kFirstStep;
    for (int i = 0; i < kShortenings && !(log_weight(at + side * step) > height - kResolved); ++i) step *= kShorter;
    return at + side * step;
  };
  return {at, height, bracket(-1), bracket(1)};
}

Peak climbed(const LogFactor& log_weight, double left, double at, double right, double resolved) {
  constexpr double kGolden = 0.38196601125010515;
  constexpr int kMostSteps = 200;
  const auto look = [&](double t) {
    const double log = log_weight(t);
    return std::isnan(log) ? -kInfinity : log;
  };
  double height = look(at), left_height = look(left), right_height = look(right);
  for (int i = 0; i < kMostSteps && height - std::min(left_height, right_height) > resolved; ++i) {
    const bool is_right = right - at > at - left;
    const double next = is_right ? at + kGolden * (right - at) : at - kGolden * (at - left);
    if (next == at || next == left || next == right) break;
    const double next_height = look(next);
    if (next_height > height) {
      (is_right ? left : right) = at;
      (is_right ? left_height : right_height) = height;
      at = next;
      height = next_height;
    } else {
      (is_right ? right : left) = next;
      (is_right ? right_height : left_height) = next_height;
    }
  }
  return {at, height, left, right};
}

void keep_visible(Peaks& peaks) {
  double top = -kInfinity;
  for (const Peak& peak : peaks) top = std::max(top, peak.height);
  const auto is_nothing = [&](const Peak& peak) { return peak.height < top - kNegligible; };
  peaks.erase(std::remove_if(peaks.begin(), peaks.end(), is_nothing), peaks.end());
}

Tops falling_roots(std::span<const double> coefficients, double low, double high) {
  constexpr int kHalvings = 70;
  Tops ends, roots;
  // From the last derivative but one, which is linear, up to the polynomial itself.
  for (std::size_t degree = 1; degree < coefficients.size(); ++degree) {
    const std::size_t order = coefficients.size() - 1 - degree;  // order of the derivative
    const auto value = [&](double s) {
      double sum = 0;
      for (std::size_t k = coefficients.size(); k-- > order;) {
        double c = coefficients[k];
        for (std::size_t i = 0; i < order; ++i) c *= static_cast<double>(k - i);
        sum = sum * s + c;
      }
      return sum;
    };
    ends.assign(roots.begin(), roots.end());
    ends.insert(ends.begin(), low);
    ends.push_back(high);
    roots.clear();
    for (std::size_t i = 0; i + 1 < ends.size(); ++i) {
      double a = std::asinh(ends[i]), b = std::asinh(ends[i + 1]);
      const bool is_falling = value(ends[i]) > 0;
      if (is_falling == (value(ends[i + 1]) > 0)) continue;
      // Numbers of any size and sign are bisected in the coordinate asinh(s).
      for (int halving = 0; halving < kHalvings; ++halving) {
        const double middle = 0.5 * (a + b);
        ((value(std::sinh(middle)) > 0) == is_falling ? a : b) = middle;
      }
      if (is_falling || order > 0) roots.push_back(std::sinh(0.5 * (a + b)));
    }
  }
  return roots;
}

PeakedIntegral::PeakedIntegral(const LogFactor& log_weight, const Peaks& peaks, double tolerance,
                               std::span<const double> kinks)
    : log_weight_(log_weight),
      highest_(*std::ranges::max_element(peaks, {}, &Peak::height)),
      tolerance_(tolerance),
      centre_(highest_.at) {
  if (peaks.size() == 1 && is_smooth(highest_)) return;
  even_.clear();
  Breaks breaks;
  for (std::size_t i = 0; i < peaks.size(); ++i) {
    // A kink at the top must be the end of a panel: beside it no node sees it.
    Peak peak = peaks[i];
    peak.at = climbed(log_weight, peak.left, peak.at, peak.right, kTop).at;
    if (breaks.size() < breaks.capacity()) breaks.push_back(peak.at);
    add_breaks(peak, peak.left - peak.at, i > 0 ? peaks[i - 1].at : -kInfinity, breaks);
    add_breaks(peak, peak.right - peak.at, i + 1 < peaks.size() ? peaks[i + 1].at : kInfinity, breaks);
  }
  const auto [lowest, last] = std::ranges::minmax(breaks);
  for (const double kink : kinks)
    if (kink > lowest && kink < last && breaks.size() < breaks.capacity()) breaks.push_back(kink);
  std::ranges::sort(breaks);
  double mass = 0, first = 0, second = 0;
  for (std::size_t i = 0; i + 1 < breaks.size(); ++i)
    for (const auto& p : panels_.emplace_back(value(), breaks[i], breaks[i + 1]).points) {
      const double fraction = p.kronrod * p.value, off = p.x - highest_.at;
      mass += fraction;
      first += fraction * off;
      second += fraction * off * off;
    }
  const double off = first / mass, square = second / mass - off * off;
  centre_ += off;
  per_square_ = square > 0 ? 1 / square : 0;
  for (const auto& panel : panels_) whole_ += panel.estimate(size()).value;
}

// Sums over even steps and over every second of them. Steps are halved until both agree: the error of the finer sum is
// then about the square of their difference.
bool PeakedIntegral::is_smooth(const Peak& peak) {
  constexpr double kStep = 0.75, kAgreement = 1e-11;  // in standard deviations; relative
  constexpr int kDoublings = 12, kRounds = 2;
  double sd = kInfinity;
  for (const double end : {peak.left, peak.right}) {
    double off = end - peak.at, fall = peak.height - log_weight(end);
    for (int i = 0; i < kDoublings && fall < 0.5 * kShoulder; ++i)
      fall = peak.height - log_weight(peak.at + (off *= 2));
    sd = std::min(sd, std::abs(off) / std::sqrt(2 * fall));
  }
  double step = kStep * sd, before[3] = {};
  if (!(sd > 1e-12 * std::abs(peak.at)) || !add_even(peak.at, step, step)) return false;
  for (int round = 0;; ++round) {
    double sums[3] = {};  // mass, and its first two moments about the peak
    for (const EvenNode& node : even_) {
      const double off = (node.t - peak.at) / sd;
      sums[0] += node.fraction;
      sums[1] += node.fraction * off;
      sums[2] += node.fraction * off * off;
    }
    const double allowed = kAgreement * std::max(sums[0], sums[2]);
    bool agree = round > 0;
    for (int k = 0; k < 3; ++k) agree &= std::abs(sums[k] - std::exchange(before[k], sums[k])) <= allowed;
    if (agree) {
      centre_ += sd * sums[1] / sums[0];
      return true;
    }
    step *= 0.5;
    for (EvenNode& node : even_) node.fraction *= 0.5;
    if (round == kRounds || !add_even(peak.at + step, 2 * step, step)) return false;
  }
}

// Adds nodes `apart` from `from` to both sides until the weight is negligible; false if there are too many, or if the
// weight ends.
bool PeakedIntegral::add_even(double from, double apart, double step) {
  for (const double by : {apart, -apart})
    for (double t = by > 0 ? from : from - apart;; t += by) {
      const double height = log_weight(t) - highest_.height;
      if (height == -kInfinity || even_.size() == even_.capacity()) return false;
      even_.push_back({t, step * std::exp(height)});
      if (height < -kNegligible) break;
    }
  return true;
}

// The end of the weight's support, between a point inside and one outside: a panel that reached beyond might miss it.
double PeakedIntegral::end_of_support(double inside, double outside) const {
  constexpr int kHalvings = 60;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = 0.5 * (inside + outside);
    (log_weight(middle) == -kInfinity ? outside : inside) = middle;
  }
  return inside;
}

// The ends of the panels on one side of a peak, up to where the weight is negligible or the next peak's panels begin.
void PeakedIntegral::add_breaks(const Peak& peak, double step, double limit, Breaks& breaks) const {
  const double side = step < 0 ? -1 : 1;
  const double least = 1e-15 * (1 + std::abs(peak.at));
  if (std::abs(step) < least) step = side * least;
  bool is_shoulder = false;
  double inside = peak.at;
  for (int i = 0; i < kMostBreaks && breaks.size() < breaks.capacity(); ++i) {
    const double at = peak.at + step;
    if (side * at >= side * limit) return;
    const double height = log_weight(at);
    if (height == -kInfinity) return breaks.push_back(end_of_support(inside, at));
    inside = at;
    is_shoulder |= height < peak.height - kShoulder;
    if (is_shoulder) breaks.push_back(at);
    if (height < highest_.height - kNegligible) return;
    step *= is_shoulder ? 4 : 2;
  }
}

}  // namespace dma
