// Noise whose logarithm is linear in the inputs of a row: variance exp(beta . (1, x)), beta learned by its own
// evidence. Without slopes it is the constant noise. Columns of a row behind those that have slopes are not read.
#pragma once

#include <algorithm>

#include "engine/learn/gaussian/program/row_model.h"

namespace dma {

// Rows that do not tell noise from a function with as many degrees of freedom as rows often give a variance its
// greatest evidence at 0. A density of the noise sd that is linear at 0 keeps it away: the count of rows that are left
// over is less by this.
inline constexpr double kAwayFromZero = 1;

struct LogLinearNoise {
  Vector beta = Vector::Zero(1);  // intercept, then one slope per input, or none
  double precision = 1;           // prior N(0, 1/precision) on every slope
  // Range of the logarithm on the training rows; it stays within.
  double lowest = -1e300, highest = 1e300;

  static constexpr double kSmallestLog = -23;  // 1e-10 in standardised units: exact data for all purposes
  double least = kSmallestLog;                 // while it is learned: see RowData::least_noise
  double bounded(double log_variance) const {
    return std::min(std::max(log_variance, std::max(lowest, least)), highest);
  }

  bool depends_on_inputs() const { return beta.size() > 1; }
  Vector variances(const Matrix& rows) const;

  static LogLinearNoise constant(double variance);
  void add_slopes(Index inputs);

  // Steps of Fisher scoring on the evidence, and of evidence on the precision of slopes. `squares`: of the
  // residuals; `fractions`: 1 - h of every row, the part of its prediction that it did not make itself (1 where nothing
  // was fitted).
  void learn(const Matrix& rows, const Vector& squares, const Vector& fractions, int steps = 1);
  // Laplace's term for beta in the log evidence; the weights are those of the rows, empty: 1 for all.
  double log_evidence(const Matrix& rows, const Vector& weights = {}) const;
  // Remembers the range of the logarithm on these rows.
  void stay_within(const Matrix& rows);
};

}  // namespace dma
