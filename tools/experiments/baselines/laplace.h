// The diagonal Laplace approximation (MacKay 1992): a Gaussian at a minimum of the energy, with the inverse of the
// Hessian's exact diagonal for its variances.
#pragma once

#include <Eigen/Dense>
#include <cstdint>
#include <vector>

#include "tools/experiments/baselines/network.h"

namespace dma::baselines {

struct DiagonalGaussian {
  Eigen::VectorXd mean, sd;
  std::vector<Eigen::VectorXd> sample(int count, std::uint64_t seed) const;
};

DiagonalGaussian laplace(const Energy& energy, const Eigen::VectorXd& minimum);

}  // namespace dma::baselines
