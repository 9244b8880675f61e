// Rows of classes, and what is learned of them on dense matrices, written as textbooks have it.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "engine/learn/gaussian/curvature/targets.h"
#include "factors/standard_registry.h"
#include "tests/oracles/plain_matrix.h"
#include "tests/oracles/random_matrices.h"

namespace dma::oracle {

inline Index outputs_for(Index classes) { return classes == 2 ? 1 : classes; }

inline RowData with_classes(Matrix rows, const std::vector<Index>& classes, Index count) {
  const Index outputs = outputs_for(count);
  const auto likelihood = std::make_shared<const OutputLikelihood>(
      standard_registry().kind(outputs == 1 ? "logistic" : "softmax"), std::vector<double>(), "y", outputs);
  RowData data{std::move(rows),
               Matrix::Zero(static_cast<Index>(classes.size()), outputs),
               {},
               OutputLikelihoods(static_cast<std::size_t>(outputs), likelihood)};
  for (std::size_t n = 0; n < classes.size(); ++n)
    if (outputs > 1 || classes[n] == 1) data.targets(static_cast<Index>(n), outputs > 1 ? classes[n] : 0) = 1;
  return data;
}

// Rows whose classes follow linear scores, with chance.
inline std::vector<Index> drawn_classes(const Matrix& rows, Index classes, std::uint64_t seed) {
  const PlainMatrix scores = 1.5 * (rows * PlainMatrix(random_matrix(rows.cols(), classes, seed + 1))) +
                             random_matrix(rows.rows(), classes, seed + 2);
  std::vector<Index> found;
  for (Index n = 0; n < rows.rows(); ++n) {
    const std::vector<double> own = scores.row(n).values();
    found.push_back(std::ranges::max_element(own) - own.begin());
  }
  return found;
}
inline RowData labelled(Index rows, Index inputs, Index classes, std::uint64_t seed) {
  const Matrix x = random_matrix(rows, inputs, seed);
  return with_classes(x, drawn_classes(x, classes, seed), classes);
}

inline SharedPrior wide_prior(const RowModel& model) {
  return {Vector::Zero(model.scalars()), Vector::Constant(model.scalars(), 2.0)};
}

// J^T H J and J^T r of classes from dense gains, row by row, the probabilities as they are defined.
struct DenseClasses {
  PlainMatrix information, gradient;
  double log_density = 0;
};
inline DenseClasses dense(const RowModel& model, const RowData& data, const Vector& m) {
  Matrix f, gains;
  model.linearise(m, data.rows, f, gains);
  const Index rows = f.rows(), outputs = f.cols();
  DenseClasses found{PlainMatrix(m.size(), m.size()), PlainMatrix(m.size(), 1)};
  for (Index n = 0; n < rows; ++n) {
    const double weight = data.weights.size() > 0 ? data.weights(n) : 1;
    double all = outputs == 1 ? 1 : 0;
    for (Index k = 0; k < outputs; ++k) all += std::exp(f(n, k));
    PlainMatrix p(outputs, 1), slope(outputs, 1), own(m.size(), outputs);
    for (Index k = 0; k < outputs; ++k) {
      p[k] = std::exp(f(n, k)) / all, slope[k] = weight * (data.targets(n, k) - p[k]);
      for (Index i = 0; i < m.size(); ++i) own(i, k) = gains(k * rows + n, i);
      if (data.targets(n, k) > 0) found.log_density += weight * std::log(p[k]);
    }
    if (outputs == 1 && data.targets(n, 0) == 0) found.log_density += weight * std::log(1 - p[0]);
    found.information += weight * (own * (diagonal_matrix(p) - p * p.transpose()) * own.transpose());
    found.gradient += own * slope;
  }
  return found;
}

// The same rows, known only by their dense gains.
class OnlyDense final : public RowModel {
 public:
  explicit OnlyDense(const RowModel& model) : model_(model) {}
  Index scalars() const override { return model_.scalars(); }
  Index outputs() const override { return model_.outputs(); }
  void evaluate(const Vector& m, const Matrix& rows, Matrix& f) const override { model_.evaluate(m, rows, f); }
  void linearise(const Vector& m, const Matrix& rows, Matrix& f, Matrix& gains) const override {
    model_.linearise(m, rows, f, gains);
  }

 private:
  const RowModel& model_;
};

// Laplace's logistic regression as textbooks have it: Newton's method on dense matrices.
struct Laplace {
  PlainMatrix mean, precision;
  double log_evidence = 0;
};
inline Laplace laplace(const RowModel& model, const RowData& data, const SharedPrior& prior, double scale,
                       int steps = 60, double part = 0.5) {
  const PlainMatrix lambda = diagonal_matrix(PlainMatrix(Vector(scale * prior.precision)));
  Laplace found{prior.mean, {}};
  for (int i = 0; i < steps; ++i) {
    const DenseClasses d = dense(model, data, found.mean.vector());
    found.precision = d.information + lambda;
    found.mean += part * found.precision.solve(d.gradient - lambda * (found.mean - prior.mean));
  }
  const PlainMatrix off = found.mean - prior.mean;
  found.log_evidence = dense(model, data, found.mean.vector()).log_density - 0.5 * dot(off, lambda * off) +
                       0.5 * lambda.log_determinant() - 0.5 * found.precision.log_determinant();
  return found;
}

}  // namespace dma::oracle
