// One row of a table given its nearest rows, under a Gaussian process with noise:
//
//   y = f + noise of variance v,  cov(f(x), f(x')) = s M(d),  M(d) = (1 + d sqrt5 + 5 d^2 / 3) exp(-d sqrt5),
//   d^2 = sum_j ((x_j - x'_j) / l_j)^2                                                                 (Matern 5/2)
//
// Of the nearest rows N with values y_N: K = s M(N, N) + v I, k = s M(N, x), w = K^-1 k; f at x has mean w.y_N and
// variance s - k.w. As a graph, one `linear` factor with coefficients w and this variance on a gather of N. All rows:
// that is the process itself.
#pragma once

#include <span>

#include "engine/support/dense.h"
#include "models/neighbours/nearest_rows.h"

namespace dma {

struct NeighbourKernel {
  Vector lengthscales;           // l
  double signal = 1, noise = 1;  // s, v

  Index parameters() const { return lengthscales.size() + 2; }
  Vector logs() const;  // logarithms of l, s, v
  static NeighbourKernel from_logs(const Vector& logs);
  Matrix scaled(const Matrix& rows) const { return rows * lengthscales.cwiseInverse().asDiagonal(); }
  Matrix covariance(const Matrix& rows, const Matrix& points) const;  // s M, without noise
  // The lower triangle of s M(rows, rows); and, in `steep`, s times the derivative of M by the logarithm of a column's
  // l, divided by the column's (z_p - z_q)^2, z = x / l. No result depends on the threads.
  Matrix lower_covariance(const Matrix& rows, Matrix* steep = nullptr, std::size_t jobs = 1) const;
};

// Solves one row after the other in the same memory: about k^3 / 3 + columns * k^2 products for k neighbours.
class RowConditional {
 public:
  // The noise of a row of weight w is v / w.
  RowConditional(const NeighbourKernel& kernel, const Matrix& rows, const Vector& values, const Vector& weights)
      : kernel_(kernel), rows_(rows), values_(values), row_weights_(weights) {}

  struct Belief {
    double mean = 0, variance = 0;  // moments of f at the point
  };
  Belief at(const Eigen::RowVectorXd& point, const Eigen::Ref<const Eigen::Matrix<Index, Eigen::Dynamic, 1>>& nearest);

  // log N(y; mean, variance + v) at the point of the last at(), and its gradient by the logarithms of l, s and v, which
  // is added. With V = variance + v, e = y - mean and a = K^-1 y_N the derivative is
  //   by V: g = (e^2 / V - 1) / (2 V), by the mean: h = e / V, by k: -2 g w + h a, by K: g w w^T - h (a w^T + w a^T)
  //   / 2.
  double log_density(double y, Eigen::Ref<Vector> gradient);
  const Vector& weights() const { return weights_; }  // w of the last at()

 private:
  const NeighbourKernel& kernel_;
  const Matrix& rows_;
  const Vector& values_;
  const Vector& row_weights_;  // empty: 1 for all
  Matrix apart_;               // neighbours seen from the point, in lengthscales
  Matrix covariance_;
  Eigen::ArrayXXd distances_, decay_;  // sqrt5 d, exp(-sqrt5 d), between neighbours
  Eigen::ArrayXd own_distances_, own_decay_;
  Vector own_, weights_, near_values_, near_noise_;
  Eigen::LLT<Matrix> factor_;
  Belief belief_;
};

// Mean over the rows `of` of log N(own_values; .) given their nearest rows (a column for each of `of`), and its
// gradient by the logarithms. The neighbours have `values`; rows count by their weights, if they have any.
double mean_log_density(const NeighbourKernel& kernel, const Matrix& rows, const Vector& values,
                        const Vector& own_values, std::span<const Index> of, const IndexMatrix& nearest,
                        Vector& gradient, std::size_t jobs = 1, const Vector& weights = {});

}  // namespace dma
