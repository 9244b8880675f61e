// Mixtures of Gaussians of several numbers, and the Gaussian that stands for one.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <span>

namespace dma {

struct WeightedGaussian {
  double log_weight = 0;
  Eigen::VectorXd mean;
  Eigen::MatrixXd covariance;
};

// The Gaussian with the weight, mean and covariance of the mixture first, first + stride, ...
WeightedGaussian merge(std::span<const WeightedGaussian> parts, std::size_t first = 0, std::size_t stride = 1);

}  // namespace dma
