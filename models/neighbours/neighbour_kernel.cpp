#include "models/neighbours/neighbour_kernel.h"

#include <algorithm>
#include <cmath>

#include "engine/support/parallel.h"
#include "engine/support/special_functions.h"

namespace dma {

namespace {

const double kRootFive = std::sqrt(5.0);

// M at sqrt5 d, of which exp(-sqrt5 d) is known.
auto matern(const auto& distance, const auto& decay) { return (1 + distance + distance.square() / 3) * decay; }
// -dM / d(d^2) times 2: what a log lengthscale changes M by is this times its part of d^2.
auto steepness(const auto& distance, const auto& decay) { return 5.0 / 3 * (1 + distance) * decay; }

}  // namespace

Vector NeighbourKernel::logs() const {
  Vector all(parameters());
  all << lengthscales.array().log().matrix(), std::log(signal), std::log(noise);
  return all;
}

NeighbourKernel NeighbourKernel::from_logs(const Vector& logs) {
  const Index columns = logs.size() - 2;
  return {logs.head(columns).array().exp(), std::exp(logs(columns)), std::exp(logs(columns + 1))};
}

Matrix NeighbourKernel::lower_covariance(const Matrix& rows, Matrix* steep, std::size_t jobs) const {
  const Matrix z = scaled(rows);
  const Vector squares = z.rowwise().squaredNorm();
  Matrix found = Matrix::Zero(rows.rows(), rows.rows());
  add_square(found, z, -2);
  if (steep) steep->resize(found.rows(), found.cols());
  constexpr Index kColumns = 64;
  parallel_for(static_cast<std::size_t>((rows.rows() + kColumns - 1) / kColumns), jobs, [&](std::size_t task) {
    Eigen::ArrayXd distance, decay;
    const Index first = static_cast<Index>(task) * kColumns;
    for (Index j = first; j < std::min(first + kColumns, rows.rows()); ++j) {
      const Index below = rows.rows() - j;
      auto values = found.col(j).tail(below).array();
      distance = kRootFive * (values + squares.tail(below).array() + squares(j)).max(0).sqrt();
      decay = signal * (-distance).exp();
      values = matern(distance, decay);
      if (steep) steep->col(j).tail(below).array() = steepness(distance, decay);
    }
  });
  return found;
}

Matrix NeighbourKernel::covariance(const Matrix& rows, const Matrix& points) const {
  const Matrix z = scaled(rows), other = scaled(points);
  Matrix apart = -2 * product_by_transposed(z, other);
  apart.colwise() += z.rowwise().squaredNorm();
  apart.rowwise() += other.rowwise().squaredNorm().transpose();
  const Eigen::ArrayXXd distances = kRootFive * apart.array().max(0).sqrt();
  return signal * matern(distances, (-distances).exp());
}

RowConditional::Belief RowConditional::at(const Eigen::RowVectorXd& point,
                                          const Eigen::Ref<const Eigen::Matrix<Index, Eigen::Dynamic, 1>>& nearest) {
  const double s = kernel_.signal;
  apart_ = rows_(nearest, Eigen::all);
  apart_.rowwise() -= point;
  apart_ *= kernel_.lengthscales.cwiseInverse().asDiagonal();
  near_values_ = values_(nearest);
  const Vector squares = apart_.rowwise().squaredNorm();
  covariance_.setZero(apart_.rows(), apart_.rows());
  add_product_by_transposed(covariance_, apart_, apart_, -2);
  const Index size = nearest.size();
  distances_.resize(size, size), decay_.resize(size, size);
  for (Index j = 0, below = size; j < size; ++j, --below) {  // the lower triangles; log_density() mirrors them
    auto squared = covariance_.col(j).tail(below).array();
    auto distance = distances_.col(j).tail(below), decay = decay_.col(j).tail(below);
    // M is flat at 0: what rounding does to small squares changes it by no more than rounding.
    distance = kRootFive * (squared + squares.tail(below).array() + squares(j)).max(0).sqrt();
    decay = (-distance).exp();
    squared = s * matern(distance, decay);
  }
  near_noise_ = Vector::Constant(nearest.size(), kernel_.noise);
  if (row_weights_.size() > 0) near_noise_ = near_noise_.cwiseQuotient(row_weights_(nearest));
  covariance_.diagonal() = near_noise_.array() + s;
  own_distances_ = kRootFive * squares.array().sqrt();
  own_decay_ = (-own_distances_).exp();
  own_ = s * matern(own_distances_, own_decay_);
  factor_.compute(covariance_);
  weights_ = factor_.solve(own_);
  return belief_ = {weights_.dot(near_values_), std::max(0.0, s - weights_.dot(own_))};
}

double RowConditional::log_density(double y, Eigen::Ref<Vector> gradient) {
  const double s = kernel_.signal, v = kernel_.noise, variance = belief_.variance + v, error = y - belief_.mean;
  const double g = 0.5 * (error * error / variance - 1) / variance, h = error / variance;
  const Vector solved = factor_.solve(near_values_);
  const auto mirror = [](auto&& lower) { lower.template triangularView<Eigen::StrictlyUpper>() = lower.transpose(); };
  mirror(covariance_), mirror(distances_.matrix()), mirror(decay_.matrix());
  const Eigen::ArrayXd by_own = -2 * g * weights_ + h * solved;
  // By K, both triangles: the symmetric part alone counts.
  Matrix by_covariance = (g * weights_ - h * solved) * weights_.transpose();
  by_covariance = (0.5 * (by_covariance + by_covariance.transpose())).eval();
  const Index columns = rows_.cols();
  const double by_noise = by_covariance.diagonal().dot(near_noise_);  // through the noise of the neighbours
  gradient(columns + 1) += v * g + by_noise;
  gradient(columns) += g * s + (by_own * own_.array()).sum() + by_covariance.cwiseProduct(covariance_).sum() - by_noise;
  by_covariance.array() *= s * steepness(distances_, decay_);
  by_covariance.diagonal().setZero();
  // sum_pq H_pq (z_p - z_q)^2 = 2 (sum_p (H 1)_p z_p^2 - z^T H z) in every column z of what is apart.
  const Vector both = 2 * by_covariance.rowwise().sum() + (by_own * s * steepness(own_distances_, own_decay_)).matrix();
  gradient.head(columns) += apart_.cwiseAbs2().transpose() * both -
                            2 * (by_covariance * apart_).cwiseProduct(apart_).colwise().sum().transpose();
  return -0.5 * (error * error / variance + std::log(variance)) - kHalfLogTwoPi;
}

double mean_log_density(const NeighbourKernel& kernel, const Matrix& rows, const Vector& values,
                        const Vector& own_values, std::span<const Index> of, const IndexMatrix& nearest,
                        Vector& gradient, std::size_t jobs, const Vector& weights) {
  constexpr std::size_t kRowsPerTask = 32;
  const std::size_t tasks = (of.size() + kRowsPerTask - 1) / kRowsPerTask;
  Matrix gradients = Matrix::Zero(kernel.parameters() + 1, static_cast<Index>(tasks));  // the value comes last
  parallel_for(tasks, jobs, [&](std::size_t task) {
    RowConditional conditional(kernel, rows, values, weights);
    auto own = gradients.col(static_cast<Index>(task));
    Vector of_row;
    for (std::size_t i = task * kRowsPerTask; i < std::min(of.size(), (task + 1) * kRowsPerTask); ++i) {
      conditional.at(rows.row(of[i]), nearest.col(static_cast<Index>(i)));
      of_row.setZero(own.size());
      of_row(own.size() - 1) = conditional.log_density(own_values(of[i]), of_row.head(own.size() - 1));
      own += (weights.size() == 0 ? 1 : weights(of[i])) * of_row;
    }
  });
  const double all = weights.size() == 0 ? static_cast<double>(of.size()) : weights(of).sum();
  const Vector sum = gradients.rowwise().sum() / all;
  gradient = sum.head(kernel.parameters());
  return sum(sum.size() - 1);
}

}  // namespace dma
