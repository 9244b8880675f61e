// A density of a few numbers as points with weights: averages over them are averages over the density.
#pragma once

#include <Eigen/Core>
#include <functional>
#include <vector>

namespace dma {

struct WeightedPoint {
  Eigen::VectorXd at;
  double weight = 0;  // all of them sum to 1
};

struct WeightedPointsOptions {
  double low = -1e300, high = 1e300;  // of every number
  std::size_t count = 48;
};

// `log_density`, up to a constant, writes its gradient into the second argument and has one summit, near `start`. The
// points are drawn around it, always the same ones, from a Gaussian a little wider than its curvature says; the weights
// make up for what the density is instead.
std::vector<WeightedPoint> weighted_points(
    const std::function<double(const Eigen::VectorXd&, Eigen::VectorXd&)>& log_density, const Eigen::VectorXd& start,
    const WeightedPointsOptions& options = {});

}  // namespace dma
