#include "engine/learn/gaussian/program/output_likelihood.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "engine/messages/gaussian.h"
#include "engine/support/log_sum_exp.h"
#include "engine/support/quadrature.h"
#include "engine/support/text.h"

namespace dma {

namespace {

constexpr double kNegligible = 40;            // a density so many nats below its peak adds nothing
constexpr double kUnnormalised = 1e-3;        // a total mass farther from 1 than this is no distribution's
constexpr double kReach = 7, kSpacing = 0.5;  // range and spacing of the points in x, in standard deviations
constexpr double kFarthest = 60;              // largest |u|, see Line

// Differences of fourth order about x, and what rounding may do to the second.
struct Differences {
  double slope, curvature, rounding;
};
template <class F>
Differences differences_at(const F& f, double x, double at_x, double h) {
  constexpr double kRounding = 2e-15;
  const double a = f(x - 2 * h), b = f(x - h), c = f(x + h), d = f(x + 2 * h);
  const double size = std::max({std::abs(a), std::abs(b), std::abs(at_x), std::abs(c), std::abs(d)});
  return {(a - 8 * b + 8 * c - d) / (12 * h), (-a + 16 * b - 30 * at_x + 16 * c - d) / (12 * h * h),
          kRounding * size / (h * h)};
}

// The peak of a function that rises to it and falls behind it, from `start`, to within `least` on either side.
template <class F>
double find_peak(const F& f, double start, double step, double least) {
  double at = start, height = f(at);
  const auto moves = [&](double to) {
    const double there = f(to);
    if (!(there > height)) return false;
    at = to, height = there;
    return true;
  };
  const double way = f(at + step) >= f(at - step) ? 1 : -1;
  while (moves(at + way * step) && std::abs(at) < 1e300) step *= 2;
  for (; step >= least; step /= 2)
    while (moves(at + step) || moves(at - step)) {
    }
  return at;
}

// Distance from the peak at which a function is half a nat lower, up to a factor of 2.
template <class F>
double find_width(const F& f, double peak, double start, double least) {
  const auto is_down = [&](double k) { return !(std::max(f(peak - k), f(peak + k)) > f(peak) - 0.5); };
  double k = start;
  while (!is_down(k) && k < 1e300) k *= 2;
  while (k / 2 >= least && is_down(k / 2)) k /= 2;
  return k;
}

// Calls use(x, probability) for points that carry N(mean, sd^2).
template <class Use>
void for_points(double mean, double sd, const Use& use) {
  if (!(sd > 0)) return use(mean, 1.0);
  double mass = 0;
  for (double t = -kReach; t <= kReach; t += kSpacing) mass += std::exp(-0.5 * t * t);
  for (double t = -kReach; t <= kReach; t += kSpacing) use(mean + sd * t, std::exp(-0.5 * t * t) / mass);
}

}  // namespace

OutputLikelihood::OutputLikelihood(const Kind& kind, std::vector<double> parameters, std::string target,
                                   Eigen::Index reads)
    : name_(kind.name()),
      target_(std::move(target)),
      reads_(reads),
      log_density_(kind.log_density()),
      log_integral_(kind.log_integral()),
      domain_(kind.ports()[1].observed),
      parameters_(std::move(parameters)) {
  if (is_class()) domain_ = Domain{.low = 0, .high = static_cast<double>(reads - 1), .whole = true};
  has_log_odds_ = are_log_odds();
  if (is_class() && !has_log_odds_)
    fail(
        "Gaussian learning: the scores that '{}' is drawn from by kind '{}' are not log odds of its classes; softmax's "
        "are",
        target_, name_);
}

// Outcomes have probabilities that sum to 1, and the ratios that the inputs say: at some points, and so everywhere.
bool OutputLikelihood::are_log_odds() const {
  constexpr double kRounding = 1e-11;
  const bool is_truth = !is_class() && domain_ && std::ranges::count(domain_->only, 1.0) > 0 &&
                        std::ranges::count(domain_->only, 0.0) > 0 && std::ranges::max(domain_->only) == 1;
  if (!is_class() && !is_truth) return false;
  for (int point = 0; point < 3; ++point) {
    std::vector<double> values, odds, logs;
    for (Eigen::Index k = 0; k < reads_; ++k) values.push_back(2 * std::sin(1 + point + 1.7 * static_cast<double>(k)));
    odds = is_class() ? values : std::vector{0.0, values[0]};
    values.resize(is_class() ? 2 * odds.size() : 2, 0);
    for (std::size_t c = 0; c < odds.size(); ++c) {
      std::vector<double> own = values;
      (is_class() ? own[odds.size() + c] : own[1]) = is_class() ? 1 : static_cast<double>(c);
      logs.push_back(log_density_(own, parameters_));
    }
    if (!(std::abs(log_sum_exp(logs)) < kRounding)) return false;
    for (std::size_t c = 0; c < odds.size(); ++c)
      if (!(std::abs(logs[c] - logs[0] - odds[c] + odds[0]) < kRounding)) return false;
  }
  return true;
}

double OutputLikelihood::log_density(double x, double y) const {
  const double values[] = {x, y};
  const double found = log_density_(values, parameters_);
  return std::isnan(found) ? -kInfinity : found;
}

// The step is the largest with which the curvature is that of half the step: a part of the distance on which it
// changes.
OutputLikelihood::Bend OutputLikelihood::bend(double x, double y) const {
  constexpr double kAgree = 1e-6;
  constexpr int kMostChanges = 100;
  const auto f = [&](double at) { return log_density(at, y); };
  const double here = f(x);
  if (!std::isfinite(here)) return {here, 0, 0};
  if (has_log_odds_) {
    const double p = 1 / (1 + std::exp(-x)), q = 1 / (1 + std::exp(x));
    return {here, y > 0 ? q : -p, -p * q};
  }
  double h = 0.02 * std::max(1.0, std::abs(x));
  Differences wide = differences_at(f, x, here, h), near = differences_at(f, x, here, h / 2);
  const auto agree = [&](const Differences& a, const Differences& b) {
    return std::abs(a.curvature - b.curvature) <= kAgree * std::abs(b.curvature) + b.rounding;
  };
  if (agree(wide, near)) {
    for (int change = 0; change < kMostChanges; ++change) {
      const Differences wider = differences_at(f, x, here, h *= 2);
      if (!agree(wider, wide)) break;
      near = wide, wide = wider;
    }
  } else {
    for (int change = 0; change < kMostChanges && !agree(wide, near); ++change)
      wide = near, near = differences_at(f, x, here, (h /= 2) / 2);
  }
  return {here, (16 * near.slope - wide.slope) / 15, (16 * near.curvature - wide.curvature) / 15};
}

// Each number near the peak; where the peak is wide, or far from it, the middle one of several, an odd number.
std::vector<OutputLikelihood::Weighted> OutputLikelihood::whole_points(double x) const {
  constexpr double kPointsPerWidth = 24, kDense = 12, kPointsFarOut = 64;
  const double low = std::max(domain_->low, -1e15);
  const auto f = [&](double y) { return y < low ? -kInfinity : log_density(x, y); };
  const double peak = find_peak(f, std::max(low, 0.0), 1, 1), top = f(peak), width = find_width(f, peak, 1, 1);
  const auto odd = [](double count) { return 2 * std::floor(0.5 * (std::max(count, 1.0) - 1)) + 1; };
  std::vector<Weighted> all;
  for (const double way : {1.0, -1.0})
    for (double begin = way > 0 ? peak : peak - 1, count; begin >= low; begin += way * count) {
      count = odd(std::max(width / kPointsPerWidth, (std::abs(begin - peak) - kDense * width) / kPointsFarOut));
      if (way < 0) count = std::min(count, odd(begin - low + 1));
      const double y = begin + way * 0.5 * (count - 1), height = f(y) - top;
      if (height < -kNegligible) break;
      all.push_back({y, count * std::exp(height)});
    }
  for (Weighted& point : all) point.weight *= std::exp(top);
  return all;
}

// y = v, or low + exp(v) where there is a lowest y; v = peak + width sinh(u): in even steps of u heavy tails end too.
class OutputLikelihood::Line {
 public:
  Line(const OutputLikelihood& of, double x) : of_(of), x_(x) {
    const auto f = [&](double v) { return along(v); };
    const double start = f(x) > f(0) ? x : 0, size = std::max(1.0, std::abs(start));
    peak_ = find_peak(f, start, 1e-3 * size, 1e-10 * size);
    width_ = find_width(f, peak_, size, 1e-12 * size);
  }
  double y_of(double u) const { return from(peak_ + width_ * std::sinh(u)); }
  double u_of(double y) const {
    return std::asinh(((is_bounded() ? std::log(y - of_.domain_->low) : y) - peak_) / width_);
  }
  double log_density(double u) const { return along(peak_ + width_ * std::sinh(u)) + std::log(width_ * std::cosh(u)); }

 private:
  bool is_bounded() const { return of_.domain_ && of_.domain_->low > -kInfinity; }
  double from(double v) const { return is_bounded() ? of_.domain_->low + std::exp(v) : v; }
  double along(double v) const { return of_.log_density(x_, from(v)) + (is_bounded() ? v : 0); }

  const OutputLikelihood& of_;
  double x_, peak_ = 0, width_ = 1;
};

std::vector<OutputLikelihood::Weighted> OutputLikelihood::real_points(double x) const {
  constexpr double kStep = 1.0 / 8;
  const Line line(*this, x);
  std::vector<Weighted> all;
  for (const double way : {1.0, -1.0})
    for (double u = way > 0 ? 0 : -kStep; std::abs(u) <= kFarthest; u += way * kStep) {
      const double height = line.log_density(u);
      if (height < line.log_density(0) - kNegligible) break;
      all.push_back({line.y_of(u), kStep * std::exp(height)});
    }
  return all;
}

std::vector<OutputLikelihood::Weighted> OutputLikelihood::points(double x) const {
  std::vector<Weighted> all;
  if (domain_ && !domain_->only.empty()) {
    for (const double y : domain_->only)  // -1 and 0 are two names of one outcome
      if (y != -1 || std::ranges::find(domain_->only, 0.0) == domain_->only.end())
        all.push_back({y, std::exp(log_density(x, y))});
  } else {
    all = is_discrete() ? whole_points(x) : real_points(x);
    std::ranges::sort(all, {}, &Weighted::y);
  }
  double mass = 0;
  for (const Weighted& point : all) mass += point.weight;
  if (!(std::abs(mass - 1) < kUnnormalised))
    fail(
        "target '{}': the density of kind '{}' has a mass of {:.2g} over y; only one that is normalised (a mass of 1) "
        "can predict",
        target_, name_, mass);
  for (Weighted& point : all) point.weight /= mass;
  return all;
}

OutputLikelihood::Outlook OutputLikelihood::outlook(double mean, double sd) const {
  struct Given {
    double weight, mean, variance;
  };
  const auto given_x = [&](double x, double weight) {
    double first = 0, second = 0;
    const std::vector<Weighted> all = points(x);
    for (const Weighted& point : all) first += point.weight * point.y;
    for (const Weighted& point : all) second += point.weight * (point.y - first) * (point.y - first);
    return Given{weight, first, second};
  };
  Outlook out;
  if (is_discrete() && domain_->only.empty()) {
    // A count whose mean is a multiple of exp(x) varies by it and by a multiple of its square: at two points, and so
    // everywhere. Far from all rows x is so uncertain that its last percent would decide the mean: as for logarithms,
    // it counts with a deviation of at most 1.
    constexpr double kRounding = 1e-5, kMostDeviation = 1, kMost = 600;
    const Given a = given_x(0, 1), b = given_x(1, 1);
    const double more = a.variance / a.mean - 1, excess = more / a.mean;
    if (std::abs(b.mean / a.mean - std::numbers::e) < kRounding &&
        std::abs(b.variance / b.mean - 1 - excess * b.mean) < kRounding * (1 + std::abs(more)) && more > -kRounding) {
      const double s = std::min(sd, kMostDeviation), square = s * s,
                   unit = a.mean * std::exp(std::min(mean + 0.5 * square, kMost));
      out.mean = unit;
      out.epistemic_variance = unit * unit * std::expm1(square);
      out.noise_variance = unit + std::max(excess, 0.0) * unit * unit * std::exp(square);
      return out;
    }
  }
  std::vector<Given> given;
  for_points(mean, sd, [&](double x, double weight) {
    given.push_back(given_x(x, weight));
    out.mean += weight * given.back().mean;
  });
  for (const Given& g : given) {
    out.noise_variance += g.weight * g.variance;
    out.epistemic_variance += g.weight * (g.mean - out.mean) * (g.mean - out.mean);
  }
  return out;
}

double OutputLikelihood::log_predictive(double mean, double sd, double y) const {
  if (!(sd > 0)) return log_density(mean, y);
  if (log_integral_) {
    const Natural arrivals[] = {Gaussian::from_moments(mean, sd * sd), Gaussian::point(y)};
    return log_integral_(arrivals, parameters_);
  }
  std::vector<double> logs;
  for_points(mean, sd, [&](double x, double weight) { logs.push_back(log_density(x, y) + std::log(weight)); });
  return log_sum_exp(logs);
}

// P(Y <= y | x); a block of whole numbers counts by its part up to y.
double OutputLikelihood::below(double x, double y) const {
  if (domain_ && y < domain_->low) return 0;
  double mass = 0;
  constexpr double kFew = 256;
  if (is_discrete() && domain_->only.empty() && y - domain_->low < kFew) {
    for (double k = domain_->low; k <= y; ++k) mass += std::exp(log_density(x, k));
    return mass;
  }
  if (is_discrete()) {
    const std::vector<Weighted> all = points(x);
    for (std::size_t i = 0; i < all.size(); ++i) {
      const double block = i + 1 < all.size() && domain_->only.empty() ? all[i + 1].y - all[i].y : 1;
      mass += all[i].weight * std::clamp(0.5 + (std::floor(y) - all[i].y + 0.5) / block, 0.0, 1.0);
    }
    return mass;
  }
  const Line line(*this, x);
  const double end = std::min(line.u_of(y), kFarthest);
  std::vector<double> pieces;
  for (const double u : {-kFarthest, -12.0, -6.0, -3.0, -1.5, 0.0, 1.5, 3.0, 6.0, 12.0})
    if (u < end) pieces.push_back(u);
  if (pieces.empty()) return 0;
  pieces.push_back(end);
  return quadrature::integral([&](double u) { return std::exp(line.log_density(u)); }, pieces, 1e-9, 12);
}

// P(Y <= y | x) is nearly a step where the likelihood is narrow beside what is known of x.
double OutputLikelihood::cumulative(double mean, double sd, double y) const {
  const double likely = domain_ && !domain_->only.empty() ? domain_->only.back()
                        : is_discrete()                   ? std::ranges::max(points(mean), {}, &Weighted::weight).y
                                                          : Line(*this, mean).y_of(0);
  double mass = 0;
  if (sd * sd * std::abs(bend(mean, likely).curvature) < 1) {
    for_points(mean, sd, [&](double x, double weight) { mass += weight * below(x, y); });
    return std::min(mass, 1.0);
  }
  const auto part = [&](double t) {
    return std::exp(-0.5 * t * t) / std::sqrt(2 * std::numbers::pi) * below(mean + sd * t, y);
  };
  return std::min(quadrature::integral(part, {-kReach, -3, -1, 0, 1, 3, kReach}, 1e-7, 14), 1.0);
}

}  // namespace dma
