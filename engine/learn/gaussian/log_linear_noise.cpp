#include "engine/learn/gaussian/log_linear_noise.h"

#include <algorithm>
#include <cmath>

#include "engine/support/dense.h"

namespace dma {

namespace {

constexpr double kLeastPrecision = 1e-2, kMostPrecision = 1e7;

Vector logarithms(const Vector& beta, const Matrix& rows) {
  if (beta.size() == 1) return Vector::Constant(rows.rows(), beta(0));
  if (rows.cols() >= beta.size()) return logarithms(beta, rows.leftCols(beta.size() - 1));
  return times(rows, beta.tail(rows.cols())).array() + beta(0);
}

Matrix with_ones(const Matrix& rows, Index begin, Index n) {
  Matrix phi(n, rows.cols() + 1);
  phi << Vector::Ones(n), rows.middleRows(begin, n);
  return phi;
}

template <class Use>
void for_row_blocks(const Matrix& rows, const Use& use) {
  constexpr Index kRows = 1 << 14;  // copies of more would fill memory rather than save time
  for (Index begin = 0; begin < rows.rows(); begin += kRows) {
    const Index n = std::min(kRows, rows.rows() - begin);
    use(begin, n, with_ones(rows, begin, n));
  }
}

// The lower triangle of Phi^T O Phi / 2, the Fisher information of beta.
Matrix information(const Matrix& rows, const Vector& fractions) {
  Matrix f = Matrix::Zero(rows.cols() + 1, rows.cols() + 1);
  for_row_blocks(rows, [&](Index begin, Index n, const Matrix& phi) {
    add_lower_product_by_transposed(f, scaled_rows(0.5 * fractions.segment(begin, n), phi).transpose(),
                                    phi.transpose());
  });
  return f;
}

// Its factor with the slopes' prior.
Eigen::LLT<Matrix> factorised(Matrix f, double precision) {
  f.diagonal().tail(f.rows() - 1).array() += precision;
  return Eigen::LLT<Matrix>(std::move(f));
}

}  // namespace

LogLinearNoise LogLinearNoise::constant(double variance) { return {.beta = Vector::Constant(1, std::log(variance))}; }

void LogLinearNoise::add_slopes(Index inputs) { beta.conservativeResizeLike(Vector::Zero(1 + inputs)); }

Vector LogLinearNoise::variances(const Matrix& rows) const {
  return logarithms(beta, rows).unaryExpr([&](double log) { return bounded(log); }).array().exp();
}

// With row noise s_n the log evidence changes by (r_n^2 / s_n - (1 - h_n)) / 2 with log s_n. A row that is its own
// prediction (h near 1) so has no say; dividing its residual by a bounded 1 - h instead takes it for evidence of little
// noise, and where all rows are fitted closely the noise then falls from step to step without end.
void LogLinearNoise::learn(const Matrix& rows, const Vector& squares, const Vector& fractions, int steps) {
  if (rows.cols() >= beta.size()) return learn(rows.leftCols(beta.size() - 1), squares, fractions, steps);
  Matrix f = information(rows, fractions);
  f(0, 0) += 0.5 * kAwayFromZero;
  for (; steps > 0; --steps) {
    const Vector u = squares.array() / variances(rows).array() - fractions.array();
    const Eigen::LLT<Matrix> factor = factorised(f, precision);
    const Vector pull = 0.5 * transposed_times(rows, u);
    Vector slope(f.rows());
    slope << 0.5 * (u.sum() + kAwayFromZero), pull - precision * beta.tail(rows.cols());
    solve_by_factor(factor.matrixLLT(), slope);
    const double largest = logarithms(slope, rows).cwiseAbs().maxCoeff();
    beta += slope * std::min(1.0, 1 / std::max(largest, 1e-300));
    Matrix root = Matrix::Identity(f.rows(), f.cols());  // root of the inverse
    solve_lower(factor.matrixLLT(), root);
    const double determined = static_cast<double>(rows.cols()) - precision * root.rightCols(rows.cols()).squaredNorm();
    precision = std::clamp(determined / std::max(beta.tail(rows.cols()).squaredNorm(), 1e-300), kLeastPrecision,
                           kMostPrecision);
  }
}

double LogLinearNoise::log_evidence(const Matrix& rows, const Vector& weights) const {
  if (!depends_on_inputs()) return 0;
  if (rows.cols() >= beta.size()) return log_evidence(rows.leftCols(beta.size() - 1), weights);
  const Vector counts = weights.size() > 0 ? weights : Vector(Vector::Ones(rows.rows()));
  const Eigen::LLT<Matrix> factor = factorised(information(rows, counts), precision);
  const auto slopes = static_cast<double>(rows.cols());
  // The intercept's own determinant, N / 2, is the constant model's too and is left out.
  return -0.5 * precision * beta.tail(rows.cols()).squaredNorm() + 0.5 * slopes * std::log(precision) -
         log_diagonal(factor.matrixLLT()) + 0.5 * std::log(0.5 * counts.sum());
}

void LogLinearNoise::stay_within(const Matrix& rows) {
  const Vector logs = logarithms(beta, rows);
  lowest = std::max(logs.minCoeff(), least), highest = std::max(logs.maxCoeff(), least);
}

}  // namespace dma
