// Noise whose logarithm is linear in the inputs of a row: variance exp(beta . (1, x)), beta learned by its own evidence.
// Without slopes it is the constant noise.
#pragma once

#include "engine/learn/joint/row_model.h"

namespace dma {

struct LogLinearNoise {
  Vector beta = Vector::Zero(1);  // intercept, then one slope per input, or none
  double precision = 1;           // of the prior N(0, 1/precision) on every slope
  // The logarithm stays where it was on the training rows.
  double lowest = -1e300, highest = 1e300;

  bool depends_on_inputs() const { return beta.size() > 1; }
  Vector variances(const Matrix& rows) const;

  static LogLinearNoise constant(double variance);
  void add_slopes(Index inputs);

  // One step of Fisher scoring on the likelihood of squared residuals N(0, s), and of evidence on the precision of slopes.
  void learn(const Matrix& rows, const Vector& squares);
  // Laplace's term for beta in the log evidence.
  double log_evidence(const Matrix& rows) const;
  // Remembers the range of the logarithm on these rows.
  void stay_within(const Matrix& rows);
};

}  // namespace dma
