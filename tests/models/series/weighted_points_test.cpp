#include "models/series/weighted_points.h"

#include <doctest/doctest.h>

#include <Eigen/LU>
#include <cmath>

#include "engine/support/text.h"
#include "tests/oracles/relative.h"

namespace {

using namespace dma;

struct PointMoments {
  Eigen::VectorXd mean;
  Eigen::MatrixXd covariance;
};

PointMoments moments_of_points(const std::vector<WeightedPoint>& points) {
  PointMoments m{Eigen::VectorXd::Zero(points[0].at.size()),
                 Eigen::MatrixXd::Zero(points[0].at.size(), points[0].at.size())};
  double total = 0;
  for (const WeightedPoint& p : points) m.mean += p.weight * p.at, total += p.weight;
  for (const WeightedPoint& p : points) m.covariance += p.weight * (p.at - m.mean) * (p.at - m.mean).transpose();
  CHECK(total == oracle::relative(1, 1e-12));
  return m;
}

WeightedPoints points_from(const LogDensity& log_density, const Eigen::VectorXd& start,
                           const WeightedPointsOptions& options = {}) {
  const auto found = summits(log_density, std::span(&start, 1),
                             {.low = options.low, .high = options.high, .tolerance = 1e-4});
  return weighted_points(log_density, found, options);
}

}  // namespace

TEST_CASE("weighted points: for a Gaussian they have its mean and covariance") {
  Eigen::MatrixXd covariance(3, 3);
  covariance << 2, 0.6, -0.3, 0.6, 1, 0.2, -0.3, 0.2, 0.5;
  const Eigen::Vector3d mean(1, -2, 0.5);
  const Eigen::MatrixXd precision = covariance.inverse();
  const auto log_density = [&](const Eigen::VectorXd& at, Eigen::VectorXd& slopes) {
    slopes = -precision * (at - mean);
    return 0.5 * (at - mean).dot(slopes);
  };
  const auto found = moments_of_points(points_from(log_density, Eigen::Vector3d::Zero(), {.count = 2000}).points);
  CHECK((found.mean - mean).norm() < 1e-3);
  CHECK((found.covariance - covariance).norm() < 0.02);
  // The default number of points: enough for a mean, and for a standard deviation to about a tenth.
  const auto few = moments_of_points(points_from(log_density, Eigen::Vector3d::Zero()).points);
  CHECK((few.mean - mean).norm() < 1e-3);
  CHECK((few.covariance.diagonal().array() / covariance.diagonal().array() - 1).abs().maxCoeff() < 0.25);
}

TEST_CASE("weighted points: a density that leans is weighted as it is") {
  // The logarithm of a gamma variable of shape 3 and rate 2: its mean is digamma(3) - log 2, its exponential's 1.5.
  const auto log_density = [](const Eigen::VectorXd& at, Eigen::VectorXd& slopes) {
    slopes.resize(1);
    slopes[0] = 3 - 2 * std::exp(at[0]);
    return 3 * at[0] - 2 * std::exp(at[0]);
  };
  const auto points = points_from(log_density, Eigen::VectorXd::Zero(1)).points;
  double mean = 0, exponential = 0;
  for (const WeightedPoint& p : points) mean += p.weight * p.at[0], exponential += p.weight * std::exp(p.at[0]);
  CHECK(std::abs(mean - (0.9227843350984671 - std::log(2.0))) < 0.05);  // 0.63: its standard deviation
  CHECK(exponential == oracle::relative(1.5, 0.02));
}

TEST_CASE("weighted points: inside the box, also where the density has no summit there") {
  const auto rising = [](const Eigen::VectorXd& at, Eigen::VectorXd& slopes) {
    slopes = Eigen::VectorXd::Constant(1, 0.5);
    return 0.5 * at[0];
  };
  for (const WeightedPoint& p : points_from(rising, Eigen::VectorXd::Zero(1), {.low = -2, .high = 1}).points) {
    CHECK(p.at[0] >= -2);
    CHECK(p.at[0] <= 1);
  }
  const Maximum many{.at = Eigen::VectorXd::Zero(9)};
  CHECK_THROWS_WITH_AS(weighted_points(rising, std::span(&many, 1)), doctest::Contains("at most 8"), Error);
}

TEST_CASE("weighted points: two summits share the weight as they share the mass") {
  // Two Gaussians far apart in the plane, with 0.3 and 0.7 of a mass of 5; the one of smaller mass is higher.
  const Eigen::Vector2d at[] = {{-6, 1}, {4, -2}};
  const double sd[] = {0.3, 1.5}, share[] = {0.3, 0.7};
  const auto log_density = [&](const Eigen::VectorXd& x, Eigen::VectorXd& slopes) {
    slopes = Eigen::VectorXd::Zero(2);
    double sum = 0;
    for (int k = 0; k < 2; ++k) {
      const double variance = sd[k] * sd[k],
                   density = 5 * share[k] * std::exp(-0.5 * (x - at[k]).squaredNorm() / variance) /
                             (2 * 3.141592653589793 * variance);
      sum += density;
      slopes -= density / variance * (x - at[k]);
    }
    slopes /= sum;
    return std::log(sum);
  };
  const std::vector<Eigen::VectorXd> starts{Eigen::Vector2d(-5.5, 1), Eigen::Vector2d(3, 0), Eigen::Vector2d(5, -1)};
  const auto found = summits(log_density, starts, {.tolerance = 1e-4});
  REQUIRE(found.size() == 2);
  CHECK((found[0].at - at[0]).norm() < 1e-3);
  CHECK((found[1].at - at[1]).norm() < 1e-3);
  const WeightedPoints points = weighted_points(log_density, found, {.count = 400});
  double left = 0;
  for (const WeightedPoint& p : points.points) left += p.at[0] < 0 ? p.weight : 0;
  CHECK(left == oracle::relative(0.3, 0.05));
  CHECK(points.log_mass == oracle::relative(std::log(5.0), 0.02));
  // For Gaussians the curvatures give the same result.
  const WeightedPoints alone = weighted_points(log_density, found, {.count = 0});
  CHECK(alone.points.size() == 1);
  CHECK(alone.log_mass == oracle::relative(std::log(5.0), 0.01));
}
