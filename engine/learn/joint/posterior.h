// What is kept of a joint fit: enough to predict new rows, to be saved and to go on.
#pragma once

#include <memory>
#include <vector>

#include "engine/learn/joint/fit.h"
#include "engine/learn/joint/student_tails.h"

namespace dma {

// Per row and output: the function's mean and variance, and the noise's variance before tails.
struct RowBeliefs {
  Matrix mean, variance, noise;
};

class JointPosterior {
 public:
  JointState state;
  std::vector<StudentTails> tails;  // per output
  double log_evidence = 0;
  // Either the lower factor C of L = C C^T, or, where P is too large for that, the rows it was learned from.
  Matrix factor, rows;

  // The posterior at a fitted state. Above `largest_factor` scalars the rows are kept instead of a factor.
  static JointPosterior of(const RowModel& model, const RowData& data, const JointPrior& prior, JointState state, Curvature& curvature,
                           double log_evidence, Index largest_factor = 3000);

  RowBeliefs predict(const RowModel& model, const JointPrior& prior, const Matrix& rows) const;
};

// Every learned row as if it had not been: with leverage h, residual r / (1 - h) and variance s h / (1 - h). Exact for linear
// models; for others as good as their linearisation.
RowBeliefs leave_one_out(const RowData& data, const Vector& noise, Curvature& curvature);

// Tails per output from left-out errors.
std::vector<StudentTails> tails_of(const RowData& data, const RowBeliefs& left_out);

}  // namespace dma
