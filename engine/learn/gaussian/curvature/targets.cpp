#include "engine/learn/gaussian/curvature/targets.h"

#include <algorithm>
#include <cmath>

#include "engine/learn/gaussian/curvature/outcomes.h"
#include "engine/support/dense.h"

namespace dma {

namespace {

// Least curvature, relative to what the slope says of the width of a density. Much less would cost digits of the
// residual.
constexpr double kLeastWeight = 1e-6;

double curvature_of(const OutputLikelihood::Bend& bend) {
  return std::max(-bend.curvature,
                  std::max(kLeastWeight * (bend.slope * bend.slope + std::abs(bend.curvature)), 1e-100));
}

}  // namespace

bool RowData::has_classes() const {
  return std::ranges::any_of(likelihoods, [](const auto& own) { return own && own->is_class(); });
}

bool RowData::has_outcomes() const {
  return std::ranges::any_of(likelihoods, [](const auto& own) { return own && own->has_log_odds(); });
}

bool RowData::has_gaussians() const {
  return likelihoods.empty() || std::ranges::any_of(likelihoods, [](const auto& own) { return !own; });
}

double other_log_density(const RowData& data, const Matrix& f) {
  double sum = 0;
  for_likelihoods(data.likelihoods, [&](Index k, const OutputLikelihood& likelihood) {
    if (likelihood.is_class())
      sum += outcome_log_density(f.middleCols(k, likelihood.reads()), data.targets.middleCols(k, likelihood.reads()),
                                 data.weights);
    else
      for (Index i = 0; i < f.rows(); ++i)
        sum += weight_of(data.weights, i) * likelihood.log_density(f(i, k), data.targets(i, k));
  });
  return sum;
}

TargetView::TargetView(const RowData& data, const Matrix& f, const Vector& noise, Index begin)
    : likelihoods_(data.likelihoods),
      counts_(Vector::Ones(f.rows())),
      slopes_(f.rows(), f.cols()),
      bends_(f.rows(), f.cols()) {
  const Index n = f.rows(), all = data.targets.rows();
  if (data.weights.size() > 0) counts_ = data.weights.segment(begin, n);
  const auto targets = data.targets.middleRows(begin, n);
  for (Index k = 0; k < f.cols(); ++k) {
    if (!data.is_gaussian(k)) continue;
    bends_.col(k) = noise.segment(k * all + begin, n).cwiseInverse();
    slopes_.col(k) = (targets.col(k) - f.col(k)).cwiseProduct(bends_.col(k));
  }
  for_likelihoods(likelihoods_, [&](Index k, const OutputLikelihood& likelihood) {
    const Index reads = likelihood.reads();
    if (likelihood.is_class()) {
      const Matrix own = f.middleCols(k, reads), observed = targets.middleCols(k, reads);
      log_density_ += outcome_log_density(own, observed, counts_);
      bends_.middleCols(k, reads) = outcome_probabilities(own);
      slopes_.middleCols(k, reads) = scaled_rows(counts_, observed - bends_.middleCols(k, reads));
      return;
    }
    for (Index i = 0; i < n; ++i) {
      const auto bend = likelihood.bend(f(i, k), targets(i, k));
      log_density_ += counts_(i) * bend.log_density;
      slopes_(i, k) = counts_(i) * bend.slope, bends_(i, k) = counts_(i) * curvature_of(bend);
    }
  });
}

// Classes have S = diag sqrt p - p sqrt(p)^T: S S^T = diag p - 2 p p^T + p p^T, for the p sum to 1.
Matrix TargetView::in_metric(Matrix x) const {
  const Index n = slopes_.rows();
  for (Index k = 0; k < slopes_.cols();) {
    const auto* likelihood = likelihoods_.empty() ? nullptr : likelihoods_[static_cast<std::size_t>(k)].get();
    const Index reads = likelihood != nullptr ? likelihood->reads() : 1;
    if (reads == 1) {
      x.middleRows(k * n, n).array().colwise() *= bends_.col(k).array().sqrt();
    } else {
      Matrix mean = Matrix::Zero(n, x.cols());
      for (Index j = k; j < k + reads; ++j) mean += scaled_rows(bends_.col(j), x.middleRows(j * n, n));
      for (Index j = k; j < k + reads; ++j) {
        const Vector roots = bends_.col(j).cwiseProduct(counts_).cwiseSqrt();
        x.middleRows(j * n, n) = scaled_rows(roots, x.middleRows(j * n, n) - mean);
      }
    }
    k += reads;
  }
  return x;
}

Matrix TargetView::curvature(Index row) const {
  Matrix h = bends_.row(row).asDiagonal();
  for_likelihoods(likelihoods_, [&](Index k, const OutputLikelihood& likelihood) {
    if (!likelihood.is_class()) return;
    const Eigen::RowVectorXd p = bends_.row(row).segment(k, likelihood.reads());
    Matrix own = -p.transpose() * p;
    own.diagonal() += p;
    h.block(k, k, p.size(), p.size()) = counts_(row) * own;
  });
  return h;
}

double see_as_gaussian(const RowData& data, const Matrix& f, Vector& residuals, Vector& noise) {
  const Index n = data.targets.rows();
  double sum = 0;
  for_likelihoods(data.likelihoods, [&](Index k, const OutputLikelihood& likelihood) {
    for (Index i = 0; i < n; ++i) {
      const auto bend = likelihood.bend(f(i, k), data.targets(i, k));
      const double w = curvature_of(bend);
      residuals(k * n + i) = bend.slope / w, noise(k * n + i) = 1 / w;
      sum += weight_of(data.weights, i) * bend.log_density;
    }
  });
  return sum;
}

}  // namespace dma
