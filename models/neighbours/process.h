// A table under a line and the process of neighbour_kernel.h, all rows at once:
//
//   y = h.b + f + noise,  h = (x, 1),  b ~ N(0, diag B):  y ~ N(0, C),  C = H B H^T + s M + v diag(1 / w)
//
// with w the weights of the rows, 1 where they have none. Costs of n rows: n^3 / 3 products for a factor of C, n^3 for
// the gradient of the evidence.
#pragma once

#include "models/neighbours/neighbour_kernel.h"

namespace dma {

Matrix with_constant(const Matrix& rows);  // H

struct ProcessRows {
  Matrix rows;
  Vector targets;
  Vector weights = {};  // empty: 1 for all

  ProcessRows some(const std::vector<Index>& which) const {
    return {rows(which, Eigen::all), targets(which), weights_of(weights, which)};
  }
};

// The prior variances of the line's slopes are `slope` times their relevances, that of the constant is `constant`.
struct LinePrior {
  Vector relevance;
  double slope = 1, constant = 1;

  Vector variances() const;  // B
};

// log N(y; 0, C), and its gradient by the logarithms of l, s, v and the prior variance of slopes. A row of weight w is
// w equal rows.
double log_evidence(const ProcessRows& table, const NeighbourKernel& kernel, const LinePrior& line, Vector& gradient);

// Mean and variance of h.b + f at points.
struct ProcessBeliefs {
  Vector mean, variance;
};
// Beliefs about some of the rows, each given all others.
ProcessBeliefs left_out(const ProcessRows& table, const NeighbourKernel& kernel, const LinePrior& line,
                        const std::vector<Index>& own);

// Moments of b.
struct Line {
  Vector mean;
  Matrix covariance;  // empty: the line is certain
};
// Observations for line_given(), of what is left of y with b at `mean`: `apart`.(b - mean) per row, plus independent
// errors of these variances.
struct LineRows {
  Matrix apart;
  Vector left, variances;
};
Line line_given(const LinePrior& prior, const Vector& mean, const LineRows& rows);

// The process at other points, given the rows. An error of the line counts as far as the rows do not share it: given b,
// f at x is k.A^-1 (y - H b) with A = s M + v diag(1 / w), so b counts by h - H^T A^-1 k.
class TableProcess {
 public:
  // Threads, on which no result depends.
  TableProcess(const ProcessRows& table, NeighbourKernel kernel, Line line, std::size_t jobs = 1);
  TableProcess(const ProcessRows& table, NeighbourKernel kernel, const LinePrior& prior);  // learns the line
  ProcessBeliefs at(const Matrix& points) const;
  const Line& line() const { return line_; }

 private:
  Matrix rows_;
  NeighbourKernel kernel_;
  Line line_;
  Matrix factor_;    // lower, of A
  Matrix features_;  // L^-1 H
  Vector solved_;    // A^-1 (y - H b)
};

}  // namespace dma
