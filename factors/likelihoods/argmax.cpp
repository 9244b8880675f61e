#include "factors/likelihoods/argmax.h"

#include <algorithm>
#include <boost/math/tools/toms748_solve.hpp>
#include <cmath>
#include <cstdint>
#include <vector>

#include "engine/kinds/kind.h"
#include "engine/support/log_sum_exp.h"
#include "engine/support/quadrature.h"
#include "factors/authoring/normal.h"

namespace dma {

namespace {

struct Score {
  double mean = 0, variance = 0, sd = 0;  // of x, and the standard deviation of u
  double first = 0, second = 0;           // E[z], E[z^2] of z = (u - mean) / sd under the tilted distribution
};

// Working memory that is kept.
struct ArgmaxMemory {
  std::vector<Score> scores;
  std::vector<double> first, second, logs;
};
ArgmaxMemory& argmax_memory() {
  thread_local ArgmaxMemory memory;
  return memory;
}

bool read_scores(Argmax::Scores scores, double noise, std::vector<Score>& out) {
  out.clear();
  for (const Gaussian& x : scores) {
    if (x.is_uniform()) return false;
    out.push_back({x.mean(), x.variance(), std::sqrt(x.variance() + noise)});
  }
  return true;
}

// The integrand of Z_c as a function of t = (u - m_c) / s_c; log-concave, and by -t^2 / 2 so strongly that it falls by
// d^2 / 2 at the distance d from its mode.
class Largest {
  static constexpr int kMostSteps = 2000;  // past every double

  auto weight() const {
    return [this](double t) { return std::exp(log_weight(t) - top_); };
  }

 public:
  Largest(const std::vector<Score>& scores, std::size_t which) : scores_(scores), which_(which) {
    // The slope at the score's own mean is not negative, and falls.
    double low = 0, high = 1;
    for (int i = 0; i < kMostSteps && slope(high) > 0; ++i) low = high, high *= 2;
    mode_ = low;
    if (slope(low) > 0 && slope(high) < 0) {  // numbers, that is: a score may be as wide as a double allows
      std::uintmax_t most = 100;
      const auto [left, right] = boost::math::tools::toms748_solve([&](double t) { return slope(t); }, low, high,
                                                                   boost::math::tools::eps_tolerance<double>(50), most);
      mode_ = 0.5 * (left + right);
    }
    top_ = log_weight(mode_);
  }

  // visit(t, weight) over the range that matters; the weights have the integral exp(the result). Where a score is much
  // narrower than this one, a panel is halved until its mass is known, and with `of_others` how much of it each other
  // score feels.
  template <class Visit>
  double integrate(bool of_others, const Visit& visit) const {
    const std::vector<double>& ends = cut();
    if (ends.size() == 2) return by_trapezoids(ends[0], ends[1], visit);
    double whole = 0, mass = 0;
    for (std::size_t i = 0; i + 1 < ends.size(); ++i)
      whole += quadrature::Panel(weight(), ends[i], ends[i + 1]).estimate().value;
    std::size_t halvings = kHalvingsPerScore * scores_.size();
    for (std::size_t i = 0; i + 1 < ends.size(); ++i)
      mass += refine(quadrature::Panel(weight(), ends[i], ends[i + 1]), whole, of_others, visit, halvings);
    return top_ + std::log(mass);
  }

  // (u - m_j) / s_j.
  double standardised(std::size_t j, double t) const {
    const Score &own = scores_[which_], &other = scores_[j];
    return j == which_ ? t : (own.mean - other.mean + own.sd * t) / other.sd;
  }

 private:
  // The error of the rule is exp(-2 (pi w / step)^2) for a step of width w within the range, which is 18 at most: with
  // w from kNarrow on less than 1e-23.
  template <class Visit>
  double by_trapezoids(double low, double high, const Visit& visit) const {
    constexpr int kPoints = 120;
    const double step = (high - low) / kPoints;
    double mass = 0;
    for (int i = 0; i <= kPoints; ++i) {
      const double t = low + i * step, fraction = step * weight()(t);
      mass += fraction;
      visit(t, fraction);
    }
    return top_ + std::log(mass);
  }

  // The range that matters. If scores are much narrower than this one it is cut on both sides of each, and at the mode:
  // the points of a panel do not see the end of a step that hides beyond the last of them.
  const std::vector<double>& cut() const {
    constexpr double kNarrow = 0.25, kWidth = 9;  // beyond nine standard deviations 1e-19 of a step is left
    thread_local std::vector<double> ends;
    ends = {mode_ - reach(-1), mode_ + reach(1)};
    const double low = ends.front(), high = ends.back();
    const Score& own = scores_[which_];
    for (const Score& other : scores_)
      for (const double side : {-kWidth, kWidth}) {
        const double t = (other.mean - own.mean + side * other.sd) / own.sd;
        if (other.sd < kNarrow * own.sd && t > low && t < high) ends.push_back(t);
      }
    if (ends.size() > 2) ends.push_back(mode_);
    std::ranges::sort(ends);
    return ends;
  }

  // A step of the narrowest score that a double can tell from none takes half of this.
  static constexpr std::size_t kHalvingsPerScore = 200;

  template <class Visit>
  double refine(const quadrature::Panel& panel, double whole, bool of_others, const Visit& visit,
                std::size_t& halvings) const {
    if (halvings > 0 && !is_known(panel, whole, of_others)) {
      --halvings;
      const double middle = 0.5 * (panel.low + panel.high);
      return refine(quadrature::Panel(weight(), panel.low, middle), whole, of_others, visit, halvings) +
             refine(quadrature::Panel(weight(), middle, panel.high), whole, of_others, visit, halvings);
    }
    double mass = 0;
    for (const auto& point : panel.points) {
      mass += point.kronrod * point.value;
      visit(point.x, point.kronrod * point.value);
    }
    return mass;
  }
  bool is_known(const quadrature::Panel& panel, double whole, bool of_others) const {
    // The digits that the logarithm of a small weight leaves, as an estimate of a panel's error sees them.
    const double tolerance = std::max(1e-14, std::pow(200 * 1e-16 * (std::abs(top_) + mode_ * mode_), 1.5));
    if (panel.estimate().error > tolerance * whole) return false;
    for (std::size_t j = 0; of_others && j < scores_.size(); ++j) {
      if (j == which_) continue;
      const auto [value, error] = panel.estimate([&](double t) { return normal::hazard(standardised(j, t)); });
      if (error > tolerance * (whole + value)) return false;
    }
    return true;
  }

  // The distance from the mode at which the weight has fallen by kBelow, a little more rather than less.
  double reach(double direction) const {
    constexpr double kBelow = 40;
    double near = 0, far = std::sqrt(2 * kBelow);
    while (far - near > 0.1 * far && far > 1e-300) {
      const double middle = 0.5 * (near + far);
      (log_weight(mode_ + direction * middle) > top_ - kBelow ? near : far) = middle;
    }
    return far;
  }
  double log_weight(double t) const {
    double sum = -0.5 * t * t - std::log(normal::kSqrtTwoPi);
    for (std::size_t j = 0; j < scores_.size(); ++j)
      if (j != which_) sum += normal::log_distribution(standardised(j, t));
    return sum;
  }
  double slope(double t) const {
    double sum = -t;
    for (std::size_t j = 0; j < scores_.size(); ++j)
      if (j != which_) sum += normal::hazard(standardised(j, t)) * (scores_[which_].sd / scores_[j].sd);
    return sum;
  }

  const std::vector<Score>& scores_;
  std::size_t which_;
  double mode_ = 0, top_ = 0;
};

double log_mass_of(const std::vector<Score>& scores, std::size_t which) {
  return Largest(scores, which).integrate(false, [](double, double) {});
}

// Adds fraction * the moments of every z under "score `which` is the largest".
void add_moments(const std::vector<Score>& scores, std::size_t which, double fraction, std::vector<double>& first,
                 std::vector<double>& second) {
  const std::size_t count = scores.size();
  std::vector<double> one(count), two(count);
  double mass = 0;
  const Largest largest(scores, which);
  (void)largest.integrate(true, [&](double t, double weight) {
    mass += weight;
    for (std::size_t j = 0; j < count; ++j) {
      const double z = largest.standardised(j, t), hazard = j == which ? 0.0 : normal::hazard(z);
      one[j] += weight * (j == which ? z : -hazard);
      two[j] += weight * (j == which ? z * z : 1 - z * hazard);
    }
  });
  for (std::size_t j = 0; j < count; ++j) first[j] += fraction * one[j] / mass, second[j] += fraction * two[j] / mass;
}

}  // namespace

void Argmax::to_class(Scores scores, Parameters p, std::span<CategoricalComponent> out) {
  ArgmaxMemory& memory = argmax_memory();
  std::ranges::fill(out, CategoricalComponent());
  if (!read_scores(scores, p.noise, memory.scores)) return;
  memory.logs.clear();
  for (std::size_t c = 0; c < scores.size(); ++c) memory.logs.push_back(log_mass_of(memory.scores, c));
  const double largest = std::ranges::max(memory.logs);
  for (std::size_t c = 0; c < scores.size(); ++c) out[c] = {memory.logs[c] - largest, 0};
}

void Argmax::to_scores(Scores scores, std::span<const CategoricalComponent> of_class, Parameters p,
                       std::span<GaussianOrFallback> out) {
  ArgmaxMemory& memory = argmax_memory();
  const std::size_t count = scores.size();
  std::ranges::fill(out, GaussianOrFallback());
  if (!read_scores(scores, p.noise, memory.scores)) return;
  std::vector<double>& fractions = memory.logs;
  fractions.resize(count);
  Categorical::logs(of_class, fractions.data());
  if (std::ranges::count(fractions, fractions[0]) == static_cast<std::ptrdiff_t>(count))
    return;  // nothing is known of the class
  for (std::size_t c = 0; c < count; ++c)
    if (fractions[c] > -kInfinity) fractions[c] += log_mass_of(memory.scores, c);
  if (std::ranges::max(fractions) == -kInfinity) return;
  to_fractions(fractions);
  memory.first.assign(count, 0);
  memory.second.assign(count, 0);
  for (std::size_t c = 0; c < count; ++c)
    if (fractions[c] > 0) add_moments(memory.scores, c, fractions[c], memory.first, memory.second);
  for (std::size_t j = 0; j < count; ++j) {
    const Score& s = memory.scores[j];
    if (s.variance == 0) continue;
    // x given u is Gaussian: its mean is linear in u, with this gain in units of u's standard deviation.
    const double gain = s.variance / s.sd,
                 variance = s.variance - gain * gain * (1 - memory.second[j] + memory.first[j] * memory.first[j]);
    const Gaussian own = Gaussian::from_moments(s.mean + gain * memory.first[j], variance) / scores[j];
    const bool is_own = variance > 0 && is_valid(own) && own.is_proper();
    out[j] = {is_own ? own : Gaussian::uniform(), !is_own};
  }
}

double Argmax::log_integral(Components arrivals, Parameters p) {
  const std::size_t count = arrivals.size() / 2;
  std::vector<Gaussian> scores;
  for (const Natural& m : arrivals.first(count)) scores.emplace_back(m);
  std::vector<Score> read;
  std::vector<double> logs(count);
  Categorical::logs(arrivals.last(count), logs.data());
  if (!read_scores(scores, p.noise, read)) return std::nan("");
  const double in_all = log_sum_exp(logs);
  if (in_all == -kInfinity) return in_all;
  for (std::size_t c = 0; c < count; ++c)
    if (logs[c] > -kInfinity) logs[c] += log_mass_of(read, c);
  return log_sum_exp(logs) - in_all;
}

Kind argmax_kind() {
  return kind("argmax", "the class is the largest of score + N(0, noise)")
      .variadic_input("scores")
      .output("class", "categorical")
      .same_terms("scores", "class")
      .optional_parameter("noise", 1.0, above(0), finite())
      .log_integral([](auto m, auto p) { return Argmax::log_integral(m, {p[0]}); })
      .message<&Argmax::to_class>("ep", "class", from("scores"))
      .message<&Argmax::to_scores>("ep", "scores", from("scores", "class"));
}

}  // namespace dma
