#include "factors/authoring/tilted.h"

#include <algorithm>
#include <array>
#include <boost/container/static_vector.hpp>
#include <cmath>
#include <limits>

#include "factors/authoring/gauss_hermite.h"
#include "factors/authoring/normal.h"

namespace dma {

namespace {

// A peak is resolved once the weight falls by no more than this (in logarithms) to the ends of its bracket.
constexpr double kResolved = 0.02;
constexpr int kMostBisections = 200;
// The scan: t = sinh(u) for u up to 12, that is, 80,000 standard deviations out.
constexpr int kScanSide = 24;
constexpr double kScanStep = 0.5;
constexpr std::size_t kMostHints = 8;
// Distances at which f is compared with f(0), and the variation of log f below which 1 / V - 1 would be mostly
// rounding.
constexpr double kLooks[] = {1, 3, 8}, kWeak = 1e-7;
// Precision of the replacement for a message of negative precision, relative to the arriving one.
constexpr double kLeastFraction = 1e-6;

class TiltedWeight {
 public:
  explicit TiltedWeight(const LogFactor& f) : f_(f) {}
  double operator()(double t) const {
    const double log = f_(t) - 0.5 * t * t;
    return std::isnan(log) ? -kInfinity : log;
  }

 private:
  const LogFactor& f_;
};

Peaks find_peaks(const TiltedWeight& weight, std::span<const double> hints) {
  boost::container::static_vector<double, 2 * kScanSide + 1 + 3 * kMostHints> points;
  for (int i = -kScanSide; i <= kScanSide; ++i) points.push_back(std::sinh(kScanStep * i));
  for (const double hint : hints.first(std::min(hints.size(), kMostHints)))
    // Far out, f may be cut off at one side of a hint, and rounding decides on which side the hint lies.
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
    // Beyond the ends of the scan: continues as long as the weight rises.
    double left = i > 0 ? points[i - 1] : 2 * points[i] - 1,
           right = i + 1 < points.size() ? points[i + 1] : 2 * points[i] + 1;
    double at = points[i];
    for (int k = 0; i == 0 && k < kMostBisections && weight(left) > weight(at); ++k) {
      right = at;
      at = left;
      left *= 2;
    }
    for (int k = 0; i + 1 == points.size() && k < kMostBisections && weight(right) > weight(at); ++k) {
      left = at;
      at = right;
      right *= 2;
    }
    const Peak peak = climbed(LogFactor(weight), left, at, right, kResolved);
    if (peaks.size() == kMostPeaks) {
      const auto lowest = std::ranges::min_element(peaks, {}, &Peak::height);
      if (lowest->height < peak.height)
        peaks.erase(lowest);
      else
        continue;
    }
    peaks.push_back(peak);
  }
  keep_visible(peaks);
  return peaks;
}

}  // namespace

// With g = f / f(0) - 1, M = E[t g] and 1 - V = M^2 - E[(t^2 - 1) g], both over 1 + E[g].
std::optional<Tilted> weak_tilt(const LogFactorOfSeveral& f, std::size_t count) {
  std::array<double, kMostFree> t{};
  const double at_0 = f(t.data());
  if (!std::isfinite(at_0)) return {};
  for (const double look : kLooks)
    for (unsigned corner = 0; corner < 1u << (count - 1); ++corner) {  // and the opposite corner
      const auto towards = [&](double by) {
        for (std::size_t i = 0; i < count; ++i) t[i] = corner >> i & 1 ? -by : by;
        return f(t.data()) - at_0;
      };
      const double above = towards(look), below = towards(-look), odd = 0.5 * (above - below);
      if (!(odd * odd + std::abs(above + below) < kWeak)) return {};
    }
  double mass = 1, first = 0, bent = 0;
  // Within the distances above.
  for_each_node<kMostFree>(GaussHermite::coarse(2), count, [&](const double* z, double weight) {
    const double g = weight * std::expm1(f(z) - at_0);
    mass += g;
    first += g * z[0];
    bent += g * (z[0] * z[0] - 1);
  });
  double mean = first / mass, lost = mean * mean - bent / mass;
  const double rounding = 16 * std::numeric_limits<double>::epsilon() * std::abs(at_0);
  if (std::abs(mean) <= rounding) mean = 0;
  if (std::abs(lost) <= rounding) lost = 0;
  return Tilted{.found = true,
                .log_mass = at_0 + std::log(mass),
                .mean = mean,
                .tau = mean / (1 - lost),
                .rho = lost / (1 - lost)};
}

namespace {

Tilted integrated(const TiltedWeight& weight, const Peaks& peaks, std::span<const double> kinks, double tolerance,
                  const NodeVisitor* visit) {
  const LogFactor log_weight(weight);
  PeakedIntegral integral(log_weight, peaks, tolerance, kinks);
  const Peak& highest = integral.highest();
  const double top = highest.height, centre = integral.centre();
  if (!std::isfinite(top)) return {};
  double mass = 0, first = 0, second = 0;
  integral.for_each_node([&](double t, double fraction) {
    const double off = t - centre;
    mass += fraction;
    first += fraction * off;
    second += fraction * off * off;
    if (visit != nullptr) (*visit)(t, fraction);
  });
  const double off = first / mass;
  double mean = centre + off, variance = second / mass - off * off;
  // A peak narrower than the spacing of doubles: returns that spacing at the peak.
  const double finest = 4 * std::numeric_limits<double>::epsilon() * std::abs(highest.at);
  double log_mass = top + std::log(mass * normal::kInverseSqrtTwoPi);
  if (!(variance > finest * finest) || !std::isfinite(variance) || !std::isfinite(mean)) {
    if (finest == 0) return {};
    mean = highest.at;
    variance = finest * finest;
    log_mass = top + std::log(finest);
  }
  // Rounding of the rule, and of logarithms of this size at every node.
  const double rounding = 4e-12 + 32 * std::numeric_limits<double>::epsilon() * (std::abs(top) + 0.5 * mean * mean);
  return {.found = true,
          .log_mass = log_mass,
          .mean = mean,
          .tau = mean / variance,
          .rho = (1 - variance) / variance,
          .rounding = rounding};
}

}  // namespace

Tilted tilt(const LogFactor& log_f, std::span<const double> hints, double tolerance, const NodeVisitor* visit) {
  if (visit == nullptr)
    if (const auto weak = weak_tilt([&](const double* t) { return log_f(*t); }, 1)) return *weak;
  const TiltedWeight weight(log_f);
  const Peaks peaks = find_peaks(weight, hints);
  if (peaks.empty()) return {};
  return integrated(weight, peaks, hints, tolerance, visit);
}

Tilted tilt_log_concave(const LogFactor& log_f, std::span<const double> hints) {
  constexpr double kNear = 0.5;  // fall from the peak to the ends of its bracket
  if (const auto weak = weak_tilt([&](const double* t) { return log_f(*t); }, 1)) return *weak;
  const TiltedWeight weight(log_f);
  double height = weight(0), next = weight(1);
  const double side = next > height ? 1 : -1;
  if (side < 0) next = weight(-1);
  double behind = -side, at = 0, ahead = side;
  for (double step = 2; next > height; step *= 2) {
    behind = at;
    at = ahead;
    height = next;
    ahead += step * side;
    next = weight(ahead);
  }
  if (!std::isfinite(height)) return tilt(log_f, hints);  // the arriving mean is outside of the domain, or overflows
  const auto [left, right] = std::minmax(behind, ahead);
  return integrated(weight, {climbed(LogFactor(weight), left, at, right, kNear)}, hints, 1e-12, nullptr);
}

GaussianOrFallback tilted_message(const Tilted& tilted, const Gaussian& arrived) {
  constexpr double kRounding = 1e-13;  // also the precision of a message that shifts the mean only
  if (!tilted.found) return GaussianOrFallback(Gaussian(std::nan(""), std::nan("")));
  if (std::abs(tilted.rho) <= kRounding && std::abs(tilted.tau) <= kRounding)
    return GaussianOrFallback(Gaussian::uniform());
  const auto message = [&](double tau_t, double rho_t) {
    const double rho = rho_t * arrived.rho, tau = tau_t * std::sqrt(arrived.rho) + arrived.mean() * rho;
    return closed(tau, rho, [&] { return tau / rho; });
  };
  if (tilted.rho > tilted.rounding) return GaussianOrFallback(message(tilted.tau, tilted.rho));
  const bool is_site = tilted.rho < -std::max(tilted.rounding, kRounding);
  const double fraction = is_site ? kLeastFraction : kRounding;
  return {message(tilted.mean * (1 + fraction), fraction), is_site,
          is_site ? message(tilted.tau, tilted.rho) : Gaussian()};
}

}  // namespace dma
