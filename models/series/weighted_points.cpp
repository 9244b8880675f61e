#include "models/series/weighted_points.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <boost/math/special_functions/erf.hpp>
#include <cmath>
#include <limits>
#include <numbers>

#include "engine/support/error.h"
#include "engine/support/maximise.h"

namespace dma {

namespace {

constexpr double kWider = 1.4;  // than the curvature at the summit says: its tails may be heavier
constexpr double kWidest = 3;   // standard deviation along a direction that is nearly flat
constexpr double kDifference = 0.05;

// Term `index` of the sequence of Van der Corput: together over several primes, points that fill a cube evenly
// (Halton).
double radical_inverse(std::size_t index, std::size_t prime) {
  double inverse = 0;
  for (double digit = 1 / static_cast<double>(prime); index > 0; index /= prime, digit /= static_cast<double>(prime))
    inverse += digit * static_cast<double>(index % prime);
  return inverse;
}

// A root of the covariance of the Gaussian with the curvature at the summit.
Eigen::MatrixXd width_at(const std::function<double(const Eigen::VectorXd&, Eigen::VectorXd&)>& log_density,
                         const Eigen::VectorXd& summit) {
  const Eigen::Index count = summit.size();
  Eigen::MatrixXd curvature(count, count);
  Eigen::VectorXd above(count), below(count);
  for (Eigen::Index i = 0; i < count; ++i) {
    Eigen::VectorXd at = summit;
    at[i] += kDifference;
    (void)log_density(at, above);
    at[i] -= 2 * kDifference;
    (void)log_density(at, below);
    curvature.col(i) = (below - above) / (2 * kDifference);
  }
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solved(0.5 * (curvature + curvature.transpose()));
  const Eigen::VectorXd scales = solved.eigenvalues().cwiseMax(1 / (kWidest * kWidest)).cwiseSqrt().cwiseInverse();
  return solved.eigenvectors() * scales.asDiagonal();
}

}  // namespace

std::vector<WeightedPoint> weighted_points(
    const std::function<double(const Eigen::VectorXd&, Eigen::VectorXd&)>& log_density, const Eigen::VectorXd& start,
    const WeightedPointsOptions& options) {
  constexpr std::size_t kPrimes[] = {2, 3, 5, 7, 11, 13, 17, 19};
  const auto size = static_cast<std::size_t>(start.size());
  if (size > std::size(kPrimes))
    fail("weighted points: {} numbers are asked for; at most {}", size, std::size(kPrimes));
  if (size == 0) return {{start, 1}};
  const Maximum summit = maximise(log_density, start, {.low = options.low, .high = options.high, .tolerance = 1e-4});
  const Eigen::MatrixXd width = kWider * width_at(log_density, summit.at);
  std::vector<WeightedPoint> points;
  Eigen::VectorXd z(start.size()), unused(start.size());
  double largest = -std::numeric_limits<double>::infinity(), total = 0;
  for (std::size_t j = 0; j < options.count; ++j) {
    for (std::size_t i = 0; i < size; ++i) {
      const double normal = -std::numbers::sqrt2 * boost::math::erfc_inv(2 * radical_inverse(j / 2 + 1, kPrimes[i]));
      z[static_cast<Eigen::Index>(i)] = j % 2 == 0 ? normal : -normal;  // in pairs: the summit stays their middle
    }
    WeightedPoint point{(summit.at + width * z).cwiseMax(options.low).cwiseMin(options.high), 0};
    point.weight = log_density(point.at, unused) + 0.5 * z.squaredNorm();  // its logarithm, so far
    if (!std::isfinite(point.weight)) continue;
    largest = std::max(largest, point.weight);
    points.push_back(std::move(point));
  }
  if (points.empty()) return {{summit.at, 1}};
  for (WeightedPoint& point : points) total += point.weight = std::exp(point.weight - largest);
  for (WeightedPoint& point : points) point.weight /= total;
  return points;
}

}  // namespace dma
