#include "engine/learn/joint/class_posterior.h"

#include <algorithm>
#include <cmath>

#include "engine/support/dense.h"

namespace dma {

namespace {

constexpr Index kPredictedRowsPerBlock = 64;

// The covariance of several logits may be singular, or less by rounding.
Matrix factor_of(Matrix covariance) {
  constexpr double kRounding = 1e-9;
  covariance.diagonal().array() += kRounding * covariance.trace() + 1e-300;
  const Eigen::LLT<Matrix> cholesky(covariance);
  if (cholesky.info() == Eigen::Success) return cholesky.matrixL();
  const Eigen::SelfAdjointEigenSolver<Matrix> eigen(covariance);
  return scaled_columns(eigen.eigenvectors(), eigen.eigenvalues().cwiseMax(0).cwiseSqrt());
}

// Covariances J L^-1 J^T of every row.
std::vector<Matrix> covariances(const RowModel& model, const Vector& mean, const ClassFactor& factor,
                                const Matrix& rows, Matrix& f) {
  std::vector<Matrix> all;
  all.reserve(static_cast<std::size_t>(rows.rows()));
  f.resize(rows.rows(), model.outputs());
  const Index outputs = model.outputs();
  Matrix own, gains;
  for (Index begin = 0; begin < rows.rows(); begin += kPredictedRowsPerBlock) {
    const Index n = std::min(kPredictedRowsPerBlock, rows.rows() - begin);
    const auto units = model.units(mean, rows.middleRows(begin, n), own);
    f.middleRows(begin, n) = own;
    gains.resize(model.scalars(), n * outputs);
    Index at = 0;
    for (const UnitGains& unit : units) {
      for (Index i = 0; i < n; ++i)
        for (Index k = 0; k < outputs; ++k)
          gains.col(i * outputs + k).segment(at, unit.inputs.cols()) = unit.up(i, k) * unit.inputs.row(i).transpose();
      at += unit.inputs.cols();
    }
    solve_lower(factor.lower, gains);
    for (Index i = 0; i < n; ++i) {
      const auto row = gains.middleCols(i * outputs, outputs);
      all.push_back(transposed_product(row, row));
    }
  }
  return all;
}

}  // namespace

LogitBeliefs logits(const RowModel& model, const Vector& mean, const ClassFactor& factor, const Matrix& rows) {
  LogitBeliefs beliefs;
  beliefs.factors = covariances(model, mean, factor, rows, beliefs.mean);
  for (Matrix& covariance : beliefs.factors) covariance = factor_of(std::move(covariance));
  return beliefs;
}

LogitBeliefs leave_one_out(const RowModel& model, const Vector& mean, const ClassFactor& factor,
                           const ClassData& data) {
  LogitBeliefs beliefs;
  beliefs.factors = covariances(model, mean, factor, data.rows, beliefs.mean);
  const Matrix p = class_probabilities(beliefs.mean),
               gradient = class_gradient(p, data.classes, beliefs.mean.cols());
  for (Index n = 0; n < p.rows(); ++n) {
    Matrix& c = beliefs.factors[static_cast<std::size_t>(n)];
    const double weight = weight_of(data.weights, n);
    Matrix rest = Matrix::Identity(c.rows(), c.rows());
    add_product(rest, c, class_curvature(p.row(n), c.rows()), -weight);
    const Matrix without = rest.partialPivLu().solve(c);
    c = 0.5 * (without + without.transpose());
    beliefs.mean.row(n) -= weight * gradient.row(n) * c;
    c = factor_of(std::move(c));
  }
  return beliefs;
}

Matrix class_probabilities(const LogitBeliefs& beliefs, double stretch) {
  const LogitAverage average(beliefs.mean.cols());
  Matrix p(beliefs.mean.rows(), classes_of(beliefs.mean.cols()));
  for (Index n = 0; n < p.rows(); ++n)
    p.row(n) = average(stretch * beliefs.mean.row(n), beliefs.factors[static_cast<std::size_t>(n)]);
  return p;
}

double most_likely_stretch(const LogitBeliefs& left_out, std::span<const Index> classes, const Vector& weights) {
  constexpr std::size_t kEnoughRows = 2000;  // one number is known well from so many
  const std::size_t stride = (classes.size() + kEnoughRows - 1) / kEnoughRows;
  const LogitAverage average(left_out.mean.cols());
  const auto score = [&](double log_stretch) {
    double sum = -0.5 * log_stretch * log_stretch;
    for (std::size_t n = 0; n < classes.size(); n += stride) {
      const auto p = average(std::exp(log_stretch) * left_out.mean.row(static_cast<Index>(n)), left_out.factors[n]);
      sum += weight_of(weights, static_cast<Index>(n)) * std::log(std::max(p(classes[n]), 1e-300));
    }
    return sum;
  };
  double best = 0, best_score = score(0);
  const auto attempt = [&](double at) {
    const double found = score(at);
    if (found > best_score) best = at, best_score = found;
  };
  for (const double at : {-2.0, -1.0, -0.5, 0.5, 1.0, 1.5, 2.0, 2.5}) attempt(at);
  for (double step = 0.25; step > 0.02; step /= 2) {
    const double middle = best;
    attempt(middle - step);
    attempt(middle + step);
  }
  return std::exp(best);
}

double log_score(const Matrix& p, std::span<const Index> classes, const Vector& weights) {
  double sum = 0;
  for (Index n = 0; n < p.rows(); ++n)
    sum += weight_of(weights, n) * std::log(std::max(p(n, classes[static_cast<std::size_t>(n)]), 1e-300));
  return sum;
}

ClassSolution solve_classes(const RowModel& model, const ClassData& data, const ClassPrior& prior, Vector start,
                            const ClassFitOptions& options) {
  ClassSolution found{fit_classes(model, data, prior, std::move(start), options), 1, {}, 0};
  const LogitBeliefs left_out = leave_one_out(model, found.mean, found.factor, data);
  found.stretch = most_likely_stretch(left_out, data.classes, data.weights);
  found.left_out = class_probabilities(left_out, found.stretch);
  found.score = log_score(found.left_out, data.classes, data.weights);
  return found;
}

}  // namespace dma
