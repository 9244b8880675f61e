// Classes by logits: one of two classes by one logit f, p = (1, e^f) / (1 + e^f); one of K >= 2 by K logits, p = e^f /
// sum e^f.
#pragma once

#include <span>
#include <vector>

#include "engine/learn/rows/row_model.h"

namespace dma {

constexpr Index logits_for(Index classes) { return classes == 2 ? 1 : classes; }
constexpr Index classes_of(Index logits) { return logits == 1 ? 2 : logits; }

// Rows x classes, of logits rows x outputs.
Matrix class_probabilities(const Matrix& logits);
// Sum over rows of log p(class).
double class_log_likelihood(const Matrix& logits, std::span<const Index> classes, const Vector& weights = {});
// d log p(class) / df, rows x outputs, at probabilities p of so many logits.
Matrix class_gradient(const Matrix& probabilities, std::span<const Index> classes, Index outputs);
// -d2 log p / df2 of one row, outputs x outputs: p0 p1, or diag p - p p^T.
Matrix class_curvature(const Eigen::RowVectorXd& probabilities, Index outputs);
// t(n, .) = S^T up(n, .) with S S^T the curvature of row n: products of such rows are those of the ups in that metric.
Matrix in_class_metric(const Matrix& up, const Matrix& probabilities);

// E[p] for Gaussian logits, over fixed points: the same numbers give the same bytes. One logit: quantiles of equal
// mass; several: a sequence of low discrepancy, with its mirror image.
class LogitAverage {
 public:
  explicit LogitAverage(Index outputs);
  // Of N(mean, F F^T).
  Eigen::RowVectorXd operator()(const Eigen::RowVectorXd& mean, const Matrix& factor) const;

 private:
  Matrix points_;  // points x outputs
};

}  // namespace dma
