// A density of a few numbers as points with weights: averages over them are averages over the density.
#pragma once

#include <Eigen/Core>
#include <functional>
#include <span>
#include <vector>

#include "engine/support/maximise.h"

namespace dma {

// The logarithm of a density up to a constant; writes its gradient into the second argument.
using LogDensity = std::function<double(const Eigen::VectorXd&, Eigen::VectorXd&)>;

// The distinct maxima that a search from each of the starts ends in, the highest first; those that are far below the
// highest are left out.
std::vector<Maximum> summits(const LogDensity& log_density, std::span<const Eigen::VectorXd> starts,
                             const MaximiseOptions& options = {});

struct WeightedPoint {
  Eigen::VectorXd at;
  double weight = 0;  // all of them sum to 1
};

struct WeightedPoints {
  std::vector<WeightedPoint> points;
  double log_mass = 0;  // the logarithm of the density's integral
};

struct WeightedPointsOptions {
  double low = -1e300, high = 1e300;  // of every number: outside, the density is 0
  std::size_t count = 48;             // 0: the highest summit alone, and the mass that the curvatures say
};

// The points are drawn around the summits, always the same ones, from a mixture of Gaussians that are a little wider
// than the curvatures say; the weights make up for what the density is instead (importance sampling), so that several
// summits share the weight as they share the mass.
WeightedPoints weighted_points(const LogDensity& log_density, std::span<const Maximum> summits,
                               const WeightedPointsOptions& options = {});

}  // namespace dma
