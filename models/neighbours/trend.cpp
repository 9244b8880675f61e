#include "models/neighbours/trend.h"

#include <Eigen/Eigenvalues>
#include <boost/random/mersenne_twister.hpp>
#include <limits>

#include "engine/support/dense.h"
#include "models/table/deal_rows.h"

namespace dma {

Trend Trend::fit(const Matrix& rows, const Vector& targets, const Vector& given, const Vector& relevance) {
  const Vector weights_of_rows = given.size() == 0 ? Vector(Vector::Ones(rows.rows())) : given;
  const double count = weights_of_rows.sum();
  const Eigen::RowVectorXd centre = weights_of_rows.transpose() * rows / count;
  const double mean = weights_of_rows.dot(targets) / count;
  const Vector y = targets.array() - mean;
  const Matrix centred = (rows.rowwise() - centre) * relevance.cwiseSqrt().asDiagonal();
  const Eigen::SelfAdjointEigenSolver<Matrix> found(
      transposed_product(weights_of_rows.asDiagonal() * centred, centred));
  const Matrix along = product_of(centred, found.eigenvectors()),
               axes = relevance.cwiseSqrt().asDiagonal() * found.eigenvectors();
  const Vector products = along.transpose() * weights_of_rows.cwiseProduct(y);
  const Matrix squares = along.cwiseAbs2();
  const Vector lengths = found.eigenvalues().cwiseMax(0);
  Trend best;
  double least = std::numeric_limits<double>::infinity();
  // Where columns outnumber rows, rounding would decide what little ridge leaves of them.
  for (double ridge = rows.rows() > 2 * rows.cols() ? 1e-12 : 1e-4; ridge < 1e7; ridge *= 10) {
    const Vector shrunk = (lengths.array() + ridge * count).inverse(), weights = products.cwiseProduct(shrunk);
    const Vector left = y - along * weights;
    const Vector left_out =
        left.array() / (1 - weights_of_rows.array() * (1 / count + (squares * shrunk).array())).max(1e-9);
    const double sum = weights_of_rows.dot(left_out.cwiseAbs2());
    if (!(sum < least)) continue;
    least = sum;
    best = {axes * weights, left, left_out, centre, axes, shrunk, weights_of_rows};
  }
  best.weights.conservativeResize(rows.cols() + 1);
  best.weights(rows.cols()) = mean - centre.dot(best.weights.head(rows.cols()));
  return best;
}

Vector Trend::at(const Vector& weights, const Matrix& rows) {
  return (rows * weights.head(rows.cols())).array() + weights(rows.cols());
}

// Without row n, whose error is then e, the slopes along the axes change by -D f w e and the constant at the centre by
// -w e / W: f are the row's features, w its weight, W the sum of all weights, D the inverse `shrunk`. Neighbours whose
// values lose the same change carry it into the process, which leaves that of `apart`.
Vector Trend::change(const Matrix& rows, const std::vector<Index>& some, const Matrix& apart) const {
  const Vector constants = apart.rightCols(1);
  const Matrix own = product_of(rows(some, Eigen::all).rowwise() - centre, axes) * shrunk.asDiagonal(),
               along = (apart.leftCols(rows.cols()) - constants * centre) * axes;
  return weights_of_rows(some).cwiseProduct(left_out(some)).array() *
         (along.cwiseProduct(own).rowwise().sum() + constants / weights_of_rows.sum()).array();
}

// Along the axes F, with D = (F^T F + R)^-1 and weights of variance (s + v) / R, which is at most 1, it is
//   D (F^T (K + v I) F + (s + v) R) D  =  (s + v) D + D F^T (K - s I) F D,
// where pairs of some rows stand for all pairs. A row of weight w is w rows with one f: it counts w times in F^T F, and
// w (w - 1) of its pairs are in K - s I.
Matrix Trend::covariance(const Matrix& rows, const NeighbourKernel& kernel, std::uint64_t seed) const {
  constexpr Index kSample = 256;
  boost::random::mt19937_64 random(seed);
  const Index columns = rows.cols();
  const std::vector<Index> which = drawn(rows.rows(), kSample, random);
  const Matrix sample = rows(which, Eigen::all);
  const auto all = static_cast<double>(rows.rows()), some = static_cast<double>(sample.rows());
  Matrix features(sample.rows(), columns + 1);
  features << product_of(sample.rowwise() - centre, axes), Vector::Ones(sample.rows());
  Matrix pairs = kernel.covariance(sample);
  const Vector own = weights_of_rows(which);
  pairs = own.asDiagonal() * pairs * own.asDiagonal();
  pairs.diagonal() = all > 1 ? Vector(kernel.signal * (some - 1) / (all - 1) * own.array() * (own.array() - 1))
                             : Vector(Vector::Zero(own.size()));
  const Eigen::SelfAdjointEigenSolver<Matrix> found(product_of(transposed_product(features, pairs), features));
  // What is negative is due to the sample: neighbours have like features.
  pairs = product_by_transposed(found.eigenvectors() * found.eigenvalues().cwiseMax(0).asDiagonal(),
                                found.eigenvectors());
  const double variance = kernel.signal + kernel.noise;
  Vector inverse(columns + 1);
  inverse << (shrunk.cwiseInverse().array() + variance).inverse().matrix(), 1 / weights_of_rows.sum();
  Matrix along = inverse.asDiagonal() * pairs * inverse.asDiagonal() * (all * (all - 1) / (some * (some - 1)));
  along.diagonal() += variance * inverse;
  Matrix to_axes = Matrix::Zero(columns + 1, columns + 1);  // from columns and constant
  to_axes.topLeftCorner(columns, columns) = axes.transpose();
  to_axes.topRightCorner(columns, 1) = -(centre * axes).transpose();
  to_axes(columns, columns) = 1;
  return product_of(transposed_product(to_axes, along), to_axes);
}

}  // namespace dma
