#include "models/series/weighted_points.h"

#include <doctest/doctest.h>

#include <Eigen/LU>
#include <cmath>

#include "engine/support/error.h"

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
  CHECK(total == doctest::Approx(1).epsilon(1e-12));
  return m;
}

}  // namespace

TEST_CASE("weighted points: of a Gaussian they have its mean and covariance") {
  Eigen::MatrixXd covariance(3, 3);
  covariance << 2, 0.6, -0.3, 0.6, 1, 0.2, -0.3, 0.2, 0.5;
  const Eigen::Vector3d mean(1, -2, 0.5);
  const Eigen::MatrixXd precision = covariance.inverse();
  const auto log_density = [&](const Eigen::VectorXd& at, Eigen::VectorXd& slopes) {
    slopes = -precision * (at - mean);
    return 0.5 * (at - mean).dot(slopes);
  };
  const auto found = moments_of_points(weighted_points(log_density, Eigen::Vector3d::Zero(), {.count = 2000}));
  CHECK((found.mean - mean).norm() < 1e-3);
  CHECK((found.covariance - covariance).norm() < 0.02);
  // The few that are the default: enough for a mean, and for a standard deviation to a tenth or so.
  const auto few = moments_of_points(weighted_points(log_density, Eigen::Vector3d::Zero()));
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
  const auto points = weighted_points(log_density, Eigen::VectorXd::Zero(1));
  double mean = 0, exponential = 0;
  for (const WeightedPoint& p : points) mean += p.weight * p.at[0], exponential += p.weight * std::exp(p.at[0]);
  CHECK(std::abs(mean - (0.9227843350984671 - std::log(2.0))) < 0.05);  // of a standard deviation of 0.63
  CHECK(exponential == doctest::Approx(1.5).epsilon(0.02));
}

TEST_CASE("weighted points: inside the box, also where the density has no summit there") {
  const auto rising = [](const Eigen::VectorXd& at, Eigen::VectorXd& slopes) {
    slopes = Eigen::VectorXd::Constant(1, 0.5);
    return 0.5 * at[0];
  };
  for (const WeightedPoint& p : weighted_points(rising, Eigen::VectorXd::Zero(1), {.low = -2, .high = 1})) {
    CHECK(p.at[0] >= -2);
    CHECK(p.at[0] <= 1);
  }
  CHECK_THROWS_WITH_AS(weighted_points(rising, Eigen::VectorXd::Zero(9)), doctest::Contains("at most 8"), Error);
}
