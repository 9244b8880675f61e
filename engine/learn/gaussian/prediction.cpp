#include "engine/learn/gaussian/prediction.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

#include "engine/learn/gaussian/program/output_likelihood.h"
#include "engine/support/log_sum_exp.h"
#include "engine/support/quadrature.h"
#include "engine/support/special_functions.h"
#include "engine/support/text.h"

namespace dma {

namespace {

double log_normal_density(double x, double mean, double sd) {
  if (sd == 0) return x == mean ? HUGE_VAL : -HUGE_VAL;
  const double t = (x - mean) / sd;
  return -0.5 * t * t - std::log(sd) - kHalfLogTwoPi;
}

// One Gaussian of the mixture at one row and output.
struct Piece {
  double probability, mean, sd;
};

// The Gaussians that make up one output of all components.
class Pieces {
 public:
  Pieces(const std::vector<PredictionComponent>& components, Eigen::Index output)
      : components_(components), output_(output) {
    for (const auto& c : components)
      widths_.push_back(c.tails.empty() ? StudentTails{}.widths() : c.tails[static_cast<std::size_t>(output)].widths());
  }

  const std::vector<Piece>& at(Eigen::Index row) {
    pieces_.clear();
    for (std::size_t k = 0; k < components_.size(); ++k) {
      const PredictionComponent& c = components_[k];
      const double weight = c.weight.size() > 0 ? c.weight(row, output_) : 1 / static_cast<double>(components_.size());
      if (weight == 0) continue;
      for (const auto& [probability, variance] : widths_[k])
        pieces_.push_back({weight * probability, c.mean(row, output_),
                           std::hypot(c.epistemic_sd(row, output_), std::sqrt(variance) * c.noise_sd(row, output_))});
    }
    return pieces_;
  }

 private:
  const std::vector<PredictionComponent>& components_;
  Eigen::Index output_;
  std::vector<std::vector<StudentTails::Width>> widths_;
  std::vector<Piece> pieces_;
};

// The likelihood of an output that has other than Gaussian noise, or null; all components have the same.
const OutputLikelihood* likelihood_of(const std::vector<PredictionComponent>& components, Eigen::Index output) {
  const OutputLikelihoods& all = components[0].likelihoods;
  return all.empty() ? nullptr : all[static_cast<std::size_t>(output)].get();
}

// The mixture of one row and output; its Gaussians are those of what a likelihood reads.
struct MixedTarget {
  const std::vector<PredictionComponent>& components;
  const OutputLikelihood& likelihood;
  Eigen::Index row, output;

  double probability() const {  // for outcomes alone
    double all = 0;
    for_each([&](double weight, double mean, double) { all += weight * mean; });
    return std::clamp(all, 0.0, 1.0);
  }

  template <class Use>
  void for_each(const Use& use) const {
    for (const PredictionComponent& c : components) {
      const double weight = c.weight.size() > 0 ? c.weight(row, output) : 1 / static_cast<double>(components.size());
      if (weight > 0) use(weight, c.mean(row, output), c.epistemic_sd(row, output));
    }
  }
  double cumulative(double y) const {
    if (likelihood.has_log_odds()) return y < 0 ? 0 : y < 1 ? 1 - probability() : 1;
    double mass = 0;
    for_each([&](double weight, double mean, double sd) { mass += weight * likelihood.cumulative(mean, sd, y); });
    return mass;
  }
  // Log density of y; that of a class is the sum over its columns.
  double log_density(double y) const {
    if (likelihood.has_log_odds())
      return y > 0 ? std::log(probability()) : likelihood.is_class() ? 0 : std::log1p(-probability());
    std::vector<double> logs;
    for_each([&](double weight, double mean, double sd) {
      logs.push_back(std::log(weight) + likelihood.log_predictive(mean, sd, y));
    });
    return log_sum_exp(logs);
  }
  // The least whole number, or the number, that is not exceeded with this probability.
  double quantile(double probability, double mean, double sd) const {
    if (likelihood.has_log_odds()) return probability > cumulative(0) ? 1 : 0;
    const auto excess = [&](double y) { return cumulative(y) - probability; };
    const bool is_discrete = likelihood.is_discrete();
    double low = is_discrete ? std::floor(mean) : mean, high = low,
           step = is_discrete ? std::max(1.0, std::floor(sd)) : sd;
    for (double s = step; excess(low) >= 0 && s < 1e300; s *= 2) high = low, low -= s;
    for (double s = step; excess(high) < 0 && s < 1e300; s *= 2) low = high, high += s;
    while (is_discrete && high - low > 1) {
      const double middle = std::floor(0.5 * (low + high));
      (excess(middle) >= 0 ? high : low) = middle;
    }
    if (is_discrete || !(low < high)) return high;
    return quadrature::bracket_root(std::cref(excess), low, high, excess(low), excess(high), 30).middle();
  }
};

bool is_log(const std::vector<PredictionComponent>& components, Eigen::Index output) {
  const std::vector<bool>& all = components[0].is_log;
  return !all.empty() && all[static_cast<std::size_t>(output)];
}

// Another's value where an output has a likelihood that is not Gaussian.
template <class Value, class Other>
Eigen::MatrixXd for_each_element(const std::vector<PredictionComponent>& components, const Value& value,
                                 const Other& other) {
  Eigen::MatrixXd result(components.at(0).mean.rows(), components[0].mean.cols());
  for (Eigen::Index j = 0; j < result.cols(); ++j) {
    if (const OutputLikelihood* likelihood = likelihood_of(components, j)) {
      for (Eigen::Index i = 0; i < result.rows(); ++i)
        result(i, j) = other(MixedTarget{components, *likelihood, i, j}, i, j);
      continue;
    }
    Pieces pieces(components, j);
    for (Eigen::Index i = 0; i < result.rows(); ++i) result(i, j) = value(pieces.at(i), i, j);
  }
  return result;
}

double mass_below(const std::vector<Piece>& pieces, double x) {
  double mass = 0;
  for (const Piece& p : pieces)
    mass += p.probability * 0.5 * std::erfc(-(x - p.mean) / p.sd * (1 / std::numbers::sqrt2));
  return mass;
}

double quantile_of(const std::vector<Piece>& pieces, double probability) {
  // Every Gaussian's own quantile lies at this many of its standard deviations; that of the mixture between the lowest
  // and the highest of them.
  const double deviations = normal_quantile(probability);
  double low = HUGE_VAL, high = -HUGE_VAL;
  for (const Piece& p : pieces) {
    const double own = p.mean + deviations * p.sd;
    low = std::min(low, own), high = std::max(high, own);
  }
  const auto excess = [&](double x) { return mass_below(pieces, x) - probability; };
  // Rounding may leave the bracket without a change of sign at one of its ends, which then is the answer.
  if (!(low < high)) return low;
  const double at_low = excess(low), at_high = excess(high);
  if (at_low >= 0) return low;
  if (at_high <= 0) return high;
  // Solved on [0, 1] between them: the solver forms products that values of 1e300 would take out of range.
  const auto between = [&](double fraction) { return (1 - fraction) * low + fraction * high; };
  const auto excess_between = [&](double fraction) { return excess(between(fraction)); };
  return between(quadrature::bracket_root(std::cref(excess_between), 0, 1, at_low, at_high).middle());
}

}  // namespace

std::vector<PredictionComponent> rows_of(const std::vector<PredictionComponent>& components, Eigen::Index begin,
                                         Eigen::Index rows) {
  std::vector<PredictionComponent> some;
  for (const PredictionComponent& c : components) {
    some.push_back({c.mean.middleRows(begin, rows),
                    c.epistemic_sd.middleRows(begin, rows),
                    c.noise_sd.middleRows(begin, rows),
                    {},
                    c.tails,
                    c.likelihoods,
                    c.is_log});
    if (c.weight.size() > 0) some.back().weight = c.weight.middleRows(begin, rows);
  }
  return some;
}

std::vector<PredictionComponent> rows_of(std::vector<PredictionComponent> components,
                                         const std::vector<Eigen::Index>& which) {
  for (PredictionComponent& own : components)
    for (Eigen::MatrixXd* values : {&own.mean, &own.epistemic_sd, &own.noise_sd, &own.weight})
      if (values->size() > 0) *values = (*values)(which, Eigen::all).eval();
  return components;
}

namespace {

// The component in units of the outputs, whatever their likelihoods.
PredictionComponent of_outputs(PredictionComponent c) {
  for (Eigen::Index k = 0; k < c.mean.cols(); ++k) {
    const auto* likelihood = c.likelihoods.empty() ? nullptr : c.likelihoods[static_cast<std::size_t>(k)].get();
    for (Eigen::Index i = 0; likelihood != nullptr && !likelihood->has_log_odds() && i < c.mean.rows(); ++i) {
      const auto [mean, epistemic, noise] = likelihood->outlook(c.mean(i, k), c.epistemic_sd(i, k));
      c.mean(i, k) = mean, c.epistemic_sd(i, k) = std::sqrt(epistemic), c.noise_sd(i, k) = std::sqrt(noise);
    }
  }
  return c;
}

}  // namespace

namespace {

// Moments of an output whose logarithm the components tell, with Gaussian noise of the same variance: the exponential
// of Student's t has none. Given f, the logarithm without its noise, whose variance is b, the output has the mean exp(f
// + b / 2) and the variance exp(2 f + b) (exp(b) - 1). Far from all learned rows f is so uncertain that its last
// percent would decide the mean: f counts with a variance of at most 1. Numbers beyond the range of a double become the
// largest ones.
void set_log_moments(Prediction& p, const std::vector<PredictionComponent>& components, Eigen::Index j) {
  constexpr double kMost = 700, kMostVariance = 1;
  struct Normal {
    double weight, mean, variance, noise;
  };
  std::vector<Normal> all;
  for (Eigen::Index i = 0; i < p.mean.rows(); ++i) {
    all.clear();
    double unit = -HUGE_VAL;  // all below are in units of exp of it
    for (const PredictionComponent& c : components) {
      const double tails = c.tails.empty() ? 1 : c.tails[static_cast<std::size_t>(j)].variance(),
                   weight = c.weight.size() > 0 ? c.weight(i, j) : 1 / static_cast<double>(components.size()),
                   noise = tails * c.noise_sd(i, j) * c.noise_sd(i, j), sd = c.epistemic_sd(i, j);
      if (weight == 0) continue;
      all.push_back({weight, c.mean(i, j), std::min(sd * sd, kMostVariance) + noise, noise});
      unit = std::max(unit, c.mean(i, j) + all.back().variance);
    }
    double mean = 0, square = 0, of_noise = 0;
    for (const auto& [weight, centre, variance, noise] : all) {
      const double off = 2 * (centre - unit), own = weight * std::exp(off + 2 * variance);
      mean += weight * std::exp(0.5 * (off + variance));
      square += own, of_noise -= own * std::expm1(-noise);
    }
    const double variance = std::max(square - mean * mean, of_noise), scale = std::exp(std::min(unit, kMost));
    p.mean(i, j) = scale * mean, p.sd(i, j) = scale * std::sqrt(variance);
    p.noise_sd(i, j) = scale * std::sqrt(of_noise), p.epistemic_sd(i, j) = scale * std::sqrt(variance - of_noise);
  }
}

}  // namespace

Prediction Prediction::mix(std::vector<PredictionComponent> components) {
  if (components.empty()) fail("no model of the mixture has a weight above 0; fit it again");
  if (!components[0].likelihoods.empty()) {
    std::vector<PredictionComponent> of_targets;
    for (const PredictionComponent& c : components)
      of_targets.push_back(of_outputs(c)), of_targets.back().likelihoods = {};
    Prediction p = mix(std::move(of_targets));
    p.components = std::move(components);
    return p;
  }
  Prediction p;
  const Eigen::Index rows = components[0].mean.rows(), columns = components[0].mean.cols();
  const double equal = 1 / static_cast<double>(components.size());
  const auto weighted = [&](const PredictionComponent& c, const Eigen::MatrixXd& values) -> Eigen::MatrixXd {
    if (c.weight.size() == 0) return equal * values;
    return c.weight.cwiseProduct(values);
  };
  p.mean = Eigen::MatrixXd::Zero(rows, columns);
  Eigen::MatrixXd epistemic = p.mean, noise = p.mean;
  for (const auto& c : components) p.mean += weighted(c, c.mean);
  for (const auto& c : components) {
    epistemic += weighted(c, c.epistemic_sd.cwiseAbs2() + (c.mean - p.mean).cwiseAbs2());
    Eigen::MatrixXd own = c.noise_sd.cwiseAbs2();
    for (std::size_t k = 0; k < c.tails.size(); ++k) own.col(static_cast<Eigen::Index>(k)) *= c.tails[k].variance();
    noise += weighted(c, own);
  }
  p.epistemic_sd = epistemic.cwiseSqrt();
  p.noise_sd = noise.cwiseSqrt();
  p.sd = (epistemic + noise).cwiseSqrt();
  for (Eigen::Index j = 0; j < columns; ++j)
    if (dma::is_log(components, j)) set_log_moments(p, components, j);
  p.components = std::move(components);
  return p;
}

Prediction Prediction::of_logarithms(Prediction logarithms, const std::vector<bool>& is_log) {
  for (PredictionComponent& own : logarithms.components) own.is_log = is_log;
  return mix(std::move(logarithms.components));
}

Prediction Prediction::mix(std::vector<Eigen::MatrixXd> means, const std::vector<Eigen::MatrixXd>& epistemic_variances,
                           const std::vector<Eigen::MatrixXd>& noise_variances) {
  std::vector<PredictionComponent> components;
  for (std::size_t k = 0; k < means.size(); ++k)
    components.push_back({std::move(means[k]), epistemic_variances[k].cwiseSqrt(), noise_variances[k].cwiseSqrt()});
  return mix(std::move(components));
}

Eigen::MatrixXd Prediction::cumulative(const Eigen::MatrixXd& targets) const {
  return for_each_element(
      components,
      [&](const auto& pieces, auto i, auto j) {
        const double y = targets(i, j);
        if (!is_log(components, j)) return mass_below(pieces, y);
        return y > 0 ? mass_below(pieces, std::log(y)) : 0;
      },
      [&](const MixedTarget& mixed, auto i, auto j) { return mixed.cumulative(targets(i, j)); });
}

namespace {

// Without moments, which take longer and need a likelihood that is normalised.
Eigen::MatrixXd densities(const std::vector<PredictionComponent>& components, const Eigen::MatrixXd& targets) {
  std::vector<double> logs;
  return for_each_element(
      components,
      [&](const auto& pieces, auto i, auto j) {
        logs.clear();
        const bool of_log = is_log(components, j);
        if (of_log && !(targets(i, j) > 0)) return -HUGE_VAL;
        const double y = of_log ? std::log(targets(i, j)) : targets(i, j);
        for (const Piece& p : pieces) logs.push_back(std::log(p.probability) + log_normal_density(y, p.mean, p.sd));
        return log_sum_exp(logs) - (of_log ? y : 0);
      },
      [&](const MixedTarget& mixed, auto i, auto j) { return mixed.log_density(targets(i, j)); });
}

}  // namespace

Eigen::MatrixXd Prediction::log_density(const Eigen::MatrixXd& targets) const { return densities(components, targets); }

Eigen::MatrixXd Prediction::quantile(double probability) const {
  if (!(probability > 0 && probability < 1))
    fail("quantile: a probability of {} is given; it must be in (0, 1)", probability);
  return for_each_element(
      components,
      [&](const auto& pieces, auto, auto j) {
        const double found = quantile_of(pieces, probability);
        return is_log(components, j) ? std::exp(found) : found;
      },
      [&](const MixedTarget& mixed, auto i, auto j) { return mixed.quantile(probability, mean(i, j), sd(i, j)); });
}

double score_of(const std::vector<PredictionComponent>& components, const Eigen::MatrixXd& targets,
                const Eigen::VectorXd& weights) {
  constexpr Eigen::Index kRows = 1 << 14;
  double sum = 0;
  for (Eigen::Index begin = 0; begin < targets.rows(); begin += kRows) {
    const Eigen::Index rows = std::min(kRows, targets.rows() - begin);
    const Eigen::MatrixXd density = densities(rows_of(components, begin, rows), targets.middleRows(begin, rows));
    sum += weights.size() == 0 ? density.sum() : (weights.segment(begin, rows).transpose() * density).sum();
  }
  return sum;
}

}  // namespace dma
