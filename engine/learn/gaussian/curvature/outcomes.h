// Outcomes whose log odds are outputs f: 0 or 1 by one output, of which 1 has p = 1 / (1 + e^-f), or one of K classes
// by K outputs, p = e^f / sum e^f. Matrices are rows x outputs: values and probabilities of 1, or of each class.
#pragma once

#include "engine/learn/gaussian/program/row_model.h"

namespace dma {

Matrix outcome_probabilities(const Matrix& f);
// Sum over rows of log p of what is observed, 0 or 1 in every column.
double outcome_log_density(const Matrix& f, const Matrix& observed, const Vector& weights = {});

// E[p] and E[p^2] for Gaussian f, over fixed points: the same numbers give the same bytes. One output: a fine
// trapezoidal rule; several: a sequence of low discrepancy, with its mirror image.
class OutcomeAverage {
 public:
  explicit OutcomeAverage(Index outputs);
  struct Moments {
    Eigen::RowVectorXd mean, square;
  };
  // Moments for f ~ N(mean, F F^T), where F is `factor`.
  Moments operator()(const Eigen::RowVectorXd& mean, const Matrix& factor) const;

 private:
  Matrix points_;  // points x outputs
  Vector weights_;
};

// Gaussian beliefs about the outputs of every row.
struct OutcomeBeliefs {
  Matrix mean;
  std::vector<Matrix> factors;  // F of the covariance F F^T
};

// The posterior of separable outcomes is skewed: its mode, where Laplace's Gaussian sits, is far below its mean while
// the width is right. One factor on all means mends most of that: the one that makes left-out rows most probable, held
// near 1 by a prior N(0, 1) of its logarithm that a handful of rows cannot overrule.
double most_likely_stretch(const OutcomeBeliefs& left_out, const Matrix& observed, const Vector& weights = {});

}  // namespace dma
