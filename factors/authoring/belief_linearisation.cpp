#include "factors/authoring/belief_linearisation.h"

#include <algorithm>
#include <cmath>

namespace dma {

namespace {

constexpr int kMostLinearisations = 50;
// Changes of the belief, in its standard deviations and relative to its variances, at which the iteration ends.
constexpr double kBeliefSettled = 1e-9;

struct Arrivals {
  InputVector mean, variance;
  explicit Arrivals(std::span<const Gaussian> x) : mean(x.size()), variance(x.size()) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      const auto at = static_cast<Eigen::Index>(i);
      mean(at) = x[i].mean();
      variance(at) = x[i].is_point() ? 0 : x[i].variance();
    }
  }
  InputMatrix covariance() const { return variance.asDiagonal(); }
};

struct Belief {
  InputVector mean;
  InputMatrix covariance;
};

class Iteration {
 public:
  Iteration(const FitOfFunction& fit, std::span<const Gaussian> x, const Gaussian& y)
      : fit_(fit), x_(x), y_(y.mean()), noise_(y.is_point() ? 0 : y.variance()) {}

  struct Fitted {
    InputVector at;
    LinearisedFunction fit;
  };

  Fitted run() const {
    Belief belief = most_probable();
    LinearisedFunction fit = fit_(belief.mean, belief.covariance);
    for (int i = 0; i < kMostLinearisations; ++i) {
      const Belief next = update(belief.mean, fit);
      if (!next.mean.allFinite() || !next.covariance.allFinite()) break;
      const LinearisedFunction next_fit = fit_(next.mean, next.covariance);
      if (!std::isfinite(next_fit.value) || !std::isfinite(next_fit.noise) || !next_fit.gains.allFinite()) break;
      const bool has_arrived = is_near(belief, next);
      belief = next;
      fit = next_fit;
      if (has_arrived) break;
    }
    return {belief.mean, fit};
  }
  // Combines the messages of the other inputs and y through the fit.
  Gaussian to_input(const Fitted& f, Eigen::Index i) const {
    const double gain = f.fit.gains(i);
    double rest = y_ - f.fit.value, noise = noise_ + f.fit.noise;
    for (Eigen::Index j = 0; j < f.at.size(); ++j)
      if (j != i) {
        rest -= f.fit.gains(j) * (x_.mean(j) - f.at(j));
        noise += f.fit.gains(j) * f.fit.gains(j) * x_.variance(j);
      }
    if (gain == 0 || !std::isfinite(gain)) return Gaussian::uniform();
    const double mean = f.at(i) + rest / gain, precision = gain / noise * gain;
    return closed(mean * precision, precision, mean);
  }

 private:
  // The belief under the linear factor fitted at `at`.
  Belief update(const InputVector& at, const LinearisedFunction& fit) const {
    const InputVector spread = x_.variance.cwiseProduct(fit.gains);
    const double total = spread.dot(fit.gains) + noise_ + fit.noise;
    if (!(total > 0)) return {at, InputMatrix::Zero(at.size(), at.size())};
    const double off = y_ - fit.value - fit.gains.dot(x_.mean - at);
    return {x_.mean + spread * (off / total), x_.covariance() - spread * spread.transpose() / total};
  }

  double objective(const InputVector& at, double value, double noise) const {
    double sum = (y_ - value) * (y_ - value) / noise;
    for (Eigen::Index i = 0; i < at.size(); ++i)
      if (x_.variance(i) > 0) sum += (at(i) - x_.mean(i)) * (at(i) - x_.mean(i)) / x_.variance(i);
    return std::isfinite(sum) ? sum : kInfinity;
  }

  // Gauss-Newton steps, halved if the objective rises.
  Belief most_probable() const {
    const InputMatrix none = InputMatrix::Zero(x_.mean.size(), x_.mean.size());
    Belief belief{x_.mean, x_.covariance()};
    InputVector at = x_.mean;
    LinearisedFunction fit = fit_(at, none);
    for (int i = 0; i < kMostLinearisations; ++i) {
      if (!std::isfinite(fit.value) || !fit.gains.allFinite()) break;
      const Belief next = update(at, fit);
      if (!next.mean.allFinite()) break;
      belief = {at, next.covariance};
      // With a point mass y the objective is infinite off the curve; use the smallest representable variance.
      const double least = 1e-12 * x_.variance.cwiseProduct(fit.gains).dot(fit.gains);
      const double noise = std::max({noise_, least, std::numeric_limits<double>::min()}),
                   now = objective(at, fit.value, noise);
      InputVector moved = next.mean;
      LinearisedFunction moved_fit = fit_(moved, none);
      for (int k = 0; k < kMostLinearisations && !(objective(moved, moved_fit.value, noise) < now) && moved != at;
           ++k) {
        moved = 0.5 * (moved + at);
        moved_fit = fit_(moved, none);
      }
      const bool has_arrived =
          is_near(belief, {moved, next.covariance}) || !(objective(moved, moved_fit.value, noise) < now);
      if (objective(moved, moved_fit.value, noise) < now) {
        at = moved;
        fit = moved_fit;
        belief.mean = at;
      }
      if (has_arrived) break;
    }
    return belief;
  }

  static bool is_near(const Belief& a, const Belief& b) {
    for (Eigen::Index i = 0; i < a.mean.size(); ++i) {
      const double variance = b.covariance(i, i), change = std::abs(a.mean(i) - b.mean(i));
      if (change > kBeliefSettled * std::sqrt(std::max(0.0, variance)) + 1e-14 * std::abs(b.mean(i))) return false;
      if (std::abs(a.covariance(i, i) - variance) > kBeliefSettled * variance) return false;
    }
    return true;
  }

  const FitOfFunction& fit_;
  Arrivals x_;
  double y_, noise_;
};

// If g is not a number there is no message: an invalid one is refused and counted, whereas a uniform one would pass as
// uninformative.
Gaussian refused() { return {std::nan(""), std::nan("")}; }

}  // namespace

Gaussian fitted_to_output(const FitOfFunction& fit, std::span<const Gaussian> x) {
  if (any_uniform(x)) return Gaussian::uniform();
  const Arrivals arrived(x);
  const LinearisedFunction f = fit(arrived.mean, arrived.covariance());
  if (std::isnan(f.value)) return refused();
  return Gaussian::from_moments(f.value, f.noise + f.gains.cwiseAbs2().dot(arrived.variance));
}

Gaussian fitted_to_input(const FitOfFunction& fit, std::size_t i, std::span<const Gaussian> x, const Gaussian& y) {
  if (y.is_uniform() || any_uniform(x)) return Gaussian::uniform();
  const Iteration iteration(fit, x, y);
  const auto fitted = iteration.run();
  return std::isnan(fitted.fit.value) ? refused() : iteration.to_input(fitted, static_cast<Eigen::Index>(i));
}

}  // namespace dma
