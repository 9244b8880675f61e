#include "models/table/log_scale.h"

#include <algorithm>
#include <numbers>

#include "engine/support/dense.h"
#include "engine/support/shuffle.h"
#include "models/table/relevance.h"
#include "models/table/standardiser.h"

namespace dma {

namespace {

constexpr Index kFewestRows = 50, kMostColumns = 500;  // rows, columns
constexpr Index kScaleSample = 2000;                   // rows
constexpr double kSkewed = 0.9;                        // an exponential distribution has 2
constexpr double kSpeaksAgainst = 2;                   // nats

// A smooth function of a column, as an effect: around its mean, rows times the roots of their weights.
Matrix smooth_effect(const Eigen::ArrayXd& column, const Vector& weights) {
  const double lowest = column.minCoeff(), range = column.maxCoeff() - lowest;
  Matrix features = effect_features(column, (std::numbers::pi / range * (column - lowest)).cos());
  features.rowwise() -= (weights.transpose() * features / weights.sum()).eval();
  return weights.cwiseSqrt().asDiagonal() * features;
}

}  // namespace

Eigen::RowVectorXd skewed_from(const Matrix& rows, const Vector& weights) {
  Eigen::RowVectorXd from = Eigen::RowVectorXd::Zero(rows.cols());
  if (rows.rows() < kFewestRows) return {};
  for (Index j = 0; j < rows.cols(); ++j)
    if (const double least = rows.col(j).minCoeff(); least > 0) from(j) = least;
  const Matrix plain = Standardiser::of(rows, weights).apply(rows),
               logs = Standardiser::of(rows, weights, from).apply(rows);
  const auto skewness = [&](const auto& column) {
    return weighted_sum(column.array().cube().matrix(), weights) / total_weight(rows.rows(), weights);
  };
  for (Index j = 0; j < rows.cols(); ++j) {
    const double skewed = skewness(plain.col(j));
    if (!(skewed > kSkewed) || std::abs(skewness(logs.col(j))) > 0.5 * skewed) from(j) = 0;
  }
  return from.isZero(0) ? Eigen::RowVectorXd() : from;
}

Eigen::RowVectorXd log_scales_of(const Matrix& rows, const Matrix& targets, std::uint64_t seed, const Vector& weights) {
  if (rows.rows() < kFewestRows || rows.cols() > kMostColumns) return {};
  std::vector<Index> some = random_order(rows.rows(), seed);
  some.resize(static_cast<std::size_t>(std::min(rows.rows(), kScaleSample)));
  const Matrix sample = rows(some, Eigen::all);
  const Vector w = weights.size() > 0 ? weights_of(weights, some) : Vector(Vector::Ones(sample.rows()));
  Eigen::RowVectorXd from = skewed_from(sample, w);
  if (from.size() == 0) return {};
  for (Index j = 0; j < from.size(); ++j)
    if (from(j) > 0) from(j) = std::max(0.0, rows.col(j).minCoeff());
  const auto standardised = [&](const Matrix& data) { return Standardiser::of(data, w).apply(data); };
  const Matrix plain = standardised(sample), logs = standardised(with_logs(sample, from));
  Vector gain = Vector::Zero(rows.cols());  // nats of all targets, by logarithms
  const Vector roots = w.cwiseSqrt();
  const Matrix linear = roots.asDiagonal() * plain, y = roots.asDiagonal() * standardised(targets(some, Eigen::all));
  for (Index k = 0; k < y.cols(); ++k) {
    if (y.col(k).squaredNorm() < 0.5 * w.sum()) continue;  // constant
    EffectEvidence all(y.col(k), w.sum());
    all.add(linear);
    const double variance = all.adjust(0).variance;
    const Vector rest = all.rest();
    for (Index j = 0; j < rows.cols(); ++j) {
      if (from(j) == 0) continue;
      const EffectEvidence own(rest + variance * linear.col(j).dot(rest) * linear.col(j), w.sum());
      gain(j) += own.gain(smooth_effect(logs.col(j), w)).nats - own.gain(smooth_effect(plain.col(j), w)).nats;
    }
  }
  from = (gain.transpose().array() < -kSpeaksAgainst).select(0, from);
  return from.isZero(0) ? Eigen::RowVectorXd() : from;
}

}  // namespace dma
