#include "engine/learn/joint/softmax.h"

#include <cmath>

#include "engine/support/dense.h"
#include "engine/support/special_functions.h"

namespace dma {

namespace {

constexpr Index kPoints = 256;

// log(1 + e^x) for any x.
double softplus(double x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); }


// The root above 1 of x^(d + 1) = x + 1: its powers are steps that fill d dimensions evenly.
double filling_ratio(Index dimensions) {
  double ratio = 2;
  for (int i = 0; i < 64; ++i) ratio = std::pow(1 + ratio, 1 / static_cast<double>(dimensions + 1));
  return ratio;
}

}  // namespace

Matrix class_probabilities(const Matrix& logits) {
  if (logits.cols() == 1) {
    Matrix p(logits.rows(), 2);
    p.col(0) = 1 / (1 + logits.col(0).array().exp());
    p.col(1) = 1 / (1 + (-logits.col(0).array()).exp());
    return p;
  }
  const Vector highest = logits.rowwise().maxCoeff();
  Matrix p = (logits.colwise() - highest).array().exp();
  const Vector sums = p.rowwise().sum();
  p.array().colwise() /= sums.array();
  return p;
}

double class_log_likelihood(const Matrix& logits, std::span<const Index> classes, const Vector& weights) {
  double sum = 0;
  for (Index n = 0; n < logits.rows(); ++n) {
    const Index own = classes[static_cast<std::size_t>(n)];
    const double weight = weight_of(weights, n);
    if (logits.cols() == 1) {
      sum -= weight * softplus(own == 1 ? -logits(n, 0) : logits(n, 0));
    } else {
      const double highest = logits.row(n).maxCoeff();
      sum += weight * (logits(n, own) - highest - std::log((logits.row(n).array() - highest).exp().sum()));
    }
  }
  return sum;
}

Matrix class_gradient(const Matrix& probabilities, std::span<const Index> classes, Index outputs) {
  Matrix gradient = -probabilities.rightCols(outputs);
  for (Index n = 0; n < gradient.rows(); ++n) {
    const Index own = classes[static_cast<std::size_t>(n)];
    if (outputs > 1) gradient(n, own) += 1;
    if (outputs == 1 && own == 1) gradient(n, 0) = probabilities(n, 0);
  }
  return gradient;
}

Matrix class_curvature(const Eigen::RowVectorXd& p, Index outputs) {
  if (outputs == 1) return Matrix::Constant(1, 1, p(0) * p(1));
  Matrix h = -p.transpose() * p;
  h.diagonal() += p;
  return h;
}

// S = diag sqrt p - p sqrt(p)^T: S S^T = diag p - 2 p p^T + p p^T, for the p sum to 1.
Matrix in_class_metric(const Matrix& up, const Matrix& p) {
  if (up.cols() == 1) return up.array() * (p.col(0).array() * p.col(1).array()).sqrt();
  const Vector mean = up.cwiseProduct(p).rowwise().sum();
  return (up.colwise() - mean).cwiseProduct(p.cwiseSqrt());
}

LogitAverage::LogitAverage(Index outputs) : points_(kPoints, outputs) {
  if (outputs == 1) {
    for (Index i = 0; i < kPoints; ++i) points_(i, 0) = normal_quantile((static_cast<double>(i) + 0.5) / kPoints);
    return;
  }
  const double ratio = filling_ratio(outputs);
  double step = 1;
  for (Index d = 0; d < outputs; ++d) {
    step /= ratio;
    for (Index i = 0; i < kPoints / 2; ++i) {
      const double at = 0.5 + static_cast<double>(i + 1) * step;
      points_(2 * i, d) = normal_quantile(at - std::floor(at));
      points_(2 * i + 1, d) = -points_(2 * i, d);
    }
  }
}

Eigen::RowVectorXd LogitAverage::operator()(const Eigen::RowVectorXd& mean, const Matrix& factor) const {
  const Matrix logits = product_by_transposed(points_, factor).rowwise() + mean;
  Eigen::RowVectorXd average = class_probabilities(logits).colwise().mean();
  return average / average.sum();
}

}  // namespace dma
