#include "models/neighbours/process.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/learn/gaussian/curvature/tiles.h"
#include "engine/support/special_functions.h"

namespace dma {

namespace {

Vector noise_of(const ProcessRows& table, double noise) {
  Vector all = Vector::Constant(table.rows.rows(), noise);
  return table.weights.size() == 0 ? all : Vector(all.cwiseQuotient(table.weights));
}

// C^-1 = R^T R for a lower R, lower triangle: a third of what a product of full matrices takes.
Matrix transposed_square_of_lower(const Matrix& lower) {
  constexpr Index kBlock = 128;
  const Index n = lower.rows();
  Matrix sum = Matrix::Zero(n, n);
  for (Index begin = 0; begin < n; begin += kBlock) {
    const Index size = std::min(kBlock, n - begin), end = begin + size;
    add_transposed_square(sum.topLeftCorner(end, end), lower.block(begin, 0, size, end));
  }
  return sum;
}

// The lower factor of C, or of C without the line.
Matrix factor_of(const ProcessRows& table, const NeighbourKernel& kernel, const LinePrior* line, std::size_t jobs) {
  const auto covariance = [&] {
    Matrix lower = kernel.lower_covariance(table.rows, nullptr, jobs);
    if (line) add_square(lower, scaled_columns(with_constant(table.rows), line->variances().cwiseSqrt()));
    return lower;
  };
  const Vector noise = noise_of(table, kernel.noise);
  ThreadPool pool(jobs);
  Matrix factor = covariance();
  factor.diagonal() += noise;
  factorise(factor, pool);  // in place: to get memory for a copy takes as long as to factorise it
  return factor.diagonal().allFinite() ? factor : safe_factor(covariance(), noise, pool);
}

Vector solved_by(const Matrix& lower, Vector x) {
  solve_by_factor(lower, x);
  return x;
}

}  // namespace

Matrix with_constant(const Matrix& rows) {
  Matrix features(rows.rows(), rows.cols() + 1);
  features << rows, Vector::Ones(rows.rows());
  return features;
}

Vector LinePrior::variances() const {
  Vector all(relevance.size() + 1);
  all << slope * relevance, constant;
  return all;
}

// With a = C^-1 y and G = a a^T - C^-1 the derivative by a number that changes C by dC is tr(G dC) / 2. A lengthscale
// changes s M by s (steepness) (z_p - z_q)^2, z = x / l, in its column, and
// sum_pq E_pq (z_p - z_q)^2 = 2 (sum_p (E 1)_p z_p^2 - z^T E z) for symmetric E.
double log_evidence(const ProcessRows& table, const NeighbourKernel& kernel, const LinePrior& line, Vector& gradient) {
  const Index n = table.rows.rows(), columns = table.rows.cols();
  const Matrix z = kernel.scaled(table.rows), features = with_constant(table.rows);
  const Vector noise = noise_of(table, kernel.noise), prior = line.variances();
  Matrix steepness, covariance = kernel.lower_covariance(table.rows, &steepness), process = covariance;
  mirror_lower(process);
  mirror_lower(steepness);
  covariance.diagonal() = noise.array() + kernel.signal;
  add_square(covariance, scaled_columns(features, prior.cwiseSqrt()));
  gradient.setZero(columns + 3);
  if (!factorise_lower(covariance)) return -std::numeric_limits<double>::infinity();
  ThreadPool alone(1);
  const Matrix root = triangular_inverse(covariance, alone);
  const Vector solved = solved_by(covariance, table.targets);
  const double value =
      -0.5 * table.targets.dot(solved) - log_diagonal(covariance) - kHalfLogTwoPi * static_cast<double>(n);
  Matrix by = transposed_square_of_lower(root);
  mirror_lower(by);
  by = solved * solved.transpose() - by;
  gradient(columns + 1) = 0.5 * by.diagonal().dot(noise);
  gradient(columns) = 0.5 * by.cwiseProduct(process).sum();
  const Vector squares = row_products(transposed_product(features, by), features.transpose());
  gradient(columns + 2) = 0.5 * squares.head(columns).dot(prior.head(columns));
  by.array() *= steepness.array();
  const Vector sums = by.rowwise().sum();
  gradient.head(columns) =
      z.cwiseAbs2().transpose() * sums - product_of(by, z).cwiseProduct(z).colwise().sum().transpose();
  if (table.weights.size() == 0) return value;
  const double repeated = 0.5 * (table.weights.sum() - static_cast<double>(n));
  gradient(columns + 1) -= repeated;
  return value - repeated * (std::log(kernel.noise) + 2 * kHalfLogTwoPi) - 0.5 * sum_of_logs(table.weights);
}

// Without row n the others say y_n - a_n / q_n, a = C^-1 y and q the diagonal of C^-1, of variance 1 / q_n with its own
// noise. With these rows last, q needs the last corner of the factor alone.
ProcessBeliefs left_out(const ProcessRows& table, const NeighbourKernel& kernel, const LinePrior& line,
                        const std::vector<Index>& own) {
  std::vector<bool> is_own(static_cast<std::size_t>(table.rows.rows()));
  for (const Index n : own) is_own[static_cast<std::size_t>(n)] = true;
  std::vector<Index> order;
  for (Index n = 0; n < table.rows.rows(); ++n)
    if (!is_own[static_cast<std::size_t>(n)]) order.push_back(n);
  order.insert(order.end(), own.begin(), own.end());
  const ProcessRows ordered = table.some(order);
  const auto last = std::ssize(own);
  const Matrix factor = factor_of(ordered, kernel, &line, 1);
  ThreadPool alone(1);
  const Vector precisions = squared_columns(triangular_inverse(factor.bottomRightCorner(last, last), alone)),
               pulls = solved_by(factor, ordered.targets).tail(last);
  return {ordered.targets.tail(last) - pulls.cwiseQuotient(precisions),
          (precisions.cwiseInverse() - noise_of(ordered, kernel.noise).tail(last)).cwiseMax(0)};
}

// With roots R of the prior variances, observations F b with errors S leave the covariance
// R (I + R F^T S^-1 F R)^-1 R.
Line line_given(const LinePrior& prior, const Vector& mean, const LineRows& rows) {
  const Vector roots = prior.variances().cwiseSqrt(), precisions = rows.variances.cwiseInverse();
  const Matrix scaled = scaled_columns(rows.apart, roots);
  Matrix precision = Matrix::Identity(roots.size(), roots.size());
  add_transposed_square(precision, scaled_rows(precisions.cwiseSqrt(), scaled));
  (void)factorise_lower(precision);
  Vector along = transposed_times(scaled, precisions.cwiseProduct(rows.left)) - mean.cwiseQuotient(roots);
  solve_by_factor(precision, along);
  Matrix root = roots.asDiagonal();
  solve_lower(precision, root);
  return {mean + roots.cwiseProduct(along), transposed_product(root, root)};
}

TableProcess::TableProcess(const ProcessRows& table, NeighbourKernel kernel, Line line, std::size_t jobs)
    : rows_(table.rows),
      kernel_(std::move(kernel)),
      line_(std::move(line)),
      factor_(factor_of(table, kernel_, nullptr, jobs)) {
  features_ = with_constant(rows_);
  solved_ = solved_by(factor_, table.targets - times(features_, line_.mean));
  solve_lower(factor_, features_);
}

TableProcess::TableProcess(const ProcessRows& table, NeighbourKernel kernel, const LinePrior& prior)
    : TableProcess(table, std::move(kernel), Line{Vector::Zero(table.rows.cols() + 1), {}}) {
  Vector whitened = table.targets;
  solve_lower(factor_, whitened);
  line_ = line_given(prior, line_.mean, {features_, whitened, Vector::Ones(whitened.size())});
  solved_ = solved_by(factor_, table.targets - times(with_constant(rows_), line_.mean));
}

ProcessBeliefs TableProcess::at(const Matrix& points) const {
  Matrix k = kernel_.covariance(rows_, points);
  const Matrix features = with_constant(points);
  ProcessBeliefs found{transposed_times(k, solved_) + times(features, line_.mean), {}};
  solve_lower(factor_, k);
  found.variance = (kernel_.signal - squared_columns(k).array()).max(0);
  if (line_.covariance.size() == 0) return found;
  const Matrix apart = features - transposed_product(k, features_);
  found.variance += row_products(product_of(apart, line_.covariance), apart).cwiseMax(0);
  return found;
}

}  // namespace dma
