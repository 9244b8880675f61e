// Weighted points that represent a density of a few numbers: averages over them approximate averages over it.
#pragma once

#include <Eigen/Core>
#include <functional>
#include <span>
#include <vector>

#include "engine/support/maximise.h"

namespace dma {

// The logarithm of a density up to a constant; writes its gradient to the second argument.
using LogDensity = std::function<double(const Eigen::VectorXd&, Eigen::VectorXd&)>;

// The distinct maxima found by searches from the starts, highest first; those far below the highest are dropped.
std::vector<Maximum> summits(const LogDensity& log_density, std::span<const Eigen::VectorXd> starts,
                             const MaximiseOptions& options = {});

struct WeightedPoint {
  Eigen::VectorXd at;
  double weight = 0;  // all weights sum to 1
};

struct WeightedPoints {
  std::vector<WeightedPoint> points;
  double log_mass = 0;  // log of the density's integral
};

struct WeightedPointsOptions {
  double low = -1e300, high = 1e300;  // bounds of every number: outside, the density is 0
  std::size_t count = 48;             // 0: only the highest summit, with the mass given by its curvature
};

// The points are drawn around the summits, with a fixed seed, from a mixture of Gaussians slightly wider than the
// curvatures suggest; the weights correct for the difference (importance sampling), so that each summit has its
// fraction of the mass.
WeightedPoints weighted_points(const LogDensity& log_density, std::span<const Maximum> summits,
                               const WeightedPointsOptions& options = {});

}  // namespace dma
