#include "engine/learn/gaussian/curvature/outcomes.h"

#include <cmath>

#include "engine/support/dense.h"
#include "engine/support/special_functions.h"

namespace dma {

namespace {

constexpr Index kPoints = 256;                               // points for several outputs
constexpr double kOutcomeReach = 7, kOutcomeSpacing = 0.25;  // points for one output, in standard deviations

// log(1 + e^x) for any x.
double softplus(double x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); }

// The root above 1 of x^(d + 1) = x + 1: its powers are steps that fill d dimensions evenly.
double filling_ratio(Index dimensions) {
  double ratio = 2;
  for (int i = 0; i < 64; ++i) ratio = std::pow(1 + ratio, 1 / static_cast<double>(dimensions + 1));
  return ratio;
}

}  // namespace

Matrix outcome_probabilities(const Matrix& f) {
  if (f.cols() == 1) return (1 / (1 + (-f.array()).exp())).matrix();
  const Vector highest = f.rowwise().maxCoeff();
  Matrix p = (f.colwise() - highest).array().exp();
  const Vector sums = p.rowwise().sum();
  p.array().colwise() /= sums.array();
  return p;
}

double outcome_log_density(const Matrix& f, const Matrix& observed, const Vector& weights) {
  double sum = 0;
  for (Index n = 0; n < f.rows(); ++n) {
    double own = 0;
    if (f.cols() == 1) {
      own = -softplus(observed(n, 0) > 0 ? -f(n, 0) : f(n, 0));
    } else {
      const double highest = f.row(n).maxCoeff(), all = std::log((f.row(n).array() - highest).exp().sum());
      for (Index k = 0; k < f.cols(); ++k)
        if (observed(n, k) > 0) own += f(n, k) - highest - all;
    }
    sum += weight_of(weights, n) * own;
  }
  return sum;
}

OutcomeAverage::OutcomeAverage(Index outputs) {
  if (outputs == 1) {
    const auto half = static_cast<Index>(kOutcomeReach / kOutcomeSpacing);
    points_ = Vector::LinSpaced(2 * half + 1, -kOutcomeReach, kOutcomeReach);
    weights_ = (-0.5 * points_.col(0).array().square()).exp();
    weights_ /= weights_.sum();
    return;
  }
  points_.resize(kPoints, outputs);
  weights_ = Vector::Constant(kPoints, 1.0 / kPoints);
  const double ratio = filling_ratio(outputs);
  double step = 1;
  for (Index d = 0; d < outputs; ++d) {
    step /= ratio;
    for (Index i = 0; i < kPoints / 2; ++i) {
      const double at = 0.5 + static_cast<double>(i + 1) * step;
      points_(2 * i, d) = normal_quantile(at - std::floor(at));
      points_(2 * i + 1, d) = -points_(2 * i, d);
    }
  }
}

OutcomeAverage::Moments OutcomeAverage::operator()(const Eigen::RowVectorXd& mean, const Matrix& factor) const {
  const Matrix p = outcome_probabilities(product_by_transposed(points_, factor).rowwise() + mean);
  return {transposed_times(p, weights_).transpose(), transposed_times(p.cwiseAbs2(), weights_).transpose()};
}

double most_likely_stretch(const OutcomeBeliefs& left_out, const Matrix& observed, const Vector& weights) {
  constexpr Index kEnoughRows = 2000;  // one number is known well from so many
  const Index stride = (observed.rows() + kEnoughRows - 1) / kEnoughRows;
  const OutcomeAverage average(observed.cols());
  const auto score = [&](double log_stretch) {
    double sum = -0.5 * log_stretch * log_stretch;
    for (Index n = 0; n < observed.rows(); n += stride) {
      const auto p =
          average(std::exp(log_stretch) * left_out.mean.row(n), left_out.factors[static_cast<std::size_t>(n)]).mean;
      const double own = p.size() > 1 ? p.dot(observed.row(n)) : observed(n, 0) > 0 ? p(0) : 1 - p(0);
      sum += weight_of(weights, n) * std::log(std::max(own, 1e-300));
    }
    return sum;
  };
  double best = 0, best_score = score(0);
  const auto attempt = [&](double at) {
    const double found = score(at);
    if (found > best_score) best = at, best_score = found;
  };
  for (const double at : {-2.0, -1.0, -0.5, 0.5, 1.0, 1.5, 2.0, 2.5}) attempt(at);
  for (double step = 0.25; step > 0.02; step /= 2) {
    const double middle = best;
    attempt(middle - step);
    attempt(middle + step);
  }
  return std::exp(best);
}

}  // namespace dma
