#include "tools/experiments/baselines/laplace.h"

#include "engine/support/error.h"
#include "tools/experiments/baselines/random_normal.h"

namespace dma::baselines {

std::vector<Eigen::VectorXd> DiagonalGaussian::sample(int count, std::uint64_t seed) const {
  RandomNormal normal(seed);
  std::vector<Eigen::VectorXd> all;
  for (int i = 0; i < count; ++i) all.push_back(mean + sd.cwiseProduct(normal.vector(mean.size())));
  return all;
}

DiagonalGaussian laplace(const Energy& energy, const Eigen::VectorXd& minimum) {
  const Eigen::VectorXd diagonal = energy.hessian_diagonal(minimum);
  if (!(diagonal.array() > 0).all())
    fail("Laplace: a weight without prior that no row depends on has no variance; give the energy a prior");
  return {minimum, diagonal.cwiseSqrt().cwiseInverse()};
}

}  // namespace dma::baselines
