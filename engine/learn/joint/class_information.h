// The information of labelled rows about the shared scalars: J^T H J summed over the rows, H the curvature of a row's
// class in its logits (generalised Gauss-Newton).
//
// J comes unit by unit, so that with t = S^T up the block of units i and j is inputs_i^T diag(t_i . t_j) inputs_j: N
// P^2 products whatever the number of classes, where J itself would take that many times more.
#pragma once

#include "engine/learn/joint/softmax.h"
#include "engine/learn/joint/tiles.h"

namespace dma {

struct ClassData {
  Matrix rows;                 // N x inputs
  std::vector<Index> classes;  // N, from 0
  Vector weights = {};         // of the rows; empty: 1 for all
};

// Lower C of L = C C^T, the precision of the scalars in the order of their units.
struct ClassFactor {
  Matrix lower;
  std::vector<Index> order;  // order[i]: the scalar in place i
  Vector variances() const;  // of the scalars
};

// That order.
std::vector<Index> unit_order(const RowModel& model, Index inputs);

class ClassInformation {
 public:
  // No result depends on how many threads the thread pool has.
  ClassInformation(const RowModel& model, const ClassData& data, const Vector& m, ThreadPool& pool);

  double log_likelihood() const { return log_likelihood_; }
  const Vector& gradient() const { return gradient_; }  // of the log-likelihood, by scalar
  // (J^T H J + diag lambda)^-1 g.
  Vector step(const Vector& lambda, const Vector& g) const;
  ClassFactor factor(const Vector& lambda) const;

 private:
  void add(const std::vector<UnitGains>& units, const Matrix& logits, std::span<const Index> classes,
           const Vector& weights);
  Matrix with(const Vector& lambda) const;

  ThreadPool* pool_;
  Matrix information_;  // lower triangle, in the order of the units
  std::vector<Index> order_;
  Vector gradient_;
  double log_likelihood_ = 0;
};

double class_log_likelihood(const RowModel& model, const ClassData& data, const Vector& m);

}  // namespace dma
