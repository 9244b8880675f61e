#include "tools/experiments/baselines/laplace.h"

#include <cmath>

#include "engine/support/error.h"
#include "tools/experiments/baselines/random_normal.h"

namespace dma::baselines {

std::vector<Eigen::VectorXd> DiagonalGaussian::sample(int count, std::uint64_t seed) const {
  RandomNormal normal(seed);
  std::vector<Eigen::VectorXd> all;
  for (int i = 0; i < count; ++i) {
    Eigen::VectorXd& draw = all.emplace_back(normal.vector(mean.size()));
    for (Eigen::Index j = 0; j < draw.size(); ++j) draw[j] = mean[j] + sd[j] * draw[j];
  }
  return all;
}

DiagonalGaussian laplace(const Energy& energy, const Eigen::VectorXd& minimum) {
  Eigen::VectorXd sd = energy.hessian_diagonal(minimum);
  for (double& s : sd) {
    if (!(s > 0))
      fail("Laplace: a weight without prior that no row depends on has no variance; give the energy a prior");
    s = 1 / std::sqrt(s);
  }
  return {minimum, sd};
}

}  // namespace dma::baselines
