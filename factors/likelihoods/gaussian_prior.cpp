#include "factors/likelihoods/gaussian_prior.h"

#include "engine/kinds/kind.h"

namespace dma {

void GaussianPrior::row(const RowCall& call) {
  for (std::size_t s = 0; s < call.slots; ++s) {
    const ParameterRow p = call.parameter_row(s);
    call.coefficients[s] = 1;
    call.offset[s] = p.number(0);
    call.variance[s] = p.number(1);
  }
}

Kind gaussian_prior_density() {
  return kind("gaussian_prior", "N(x; mean, variance)")
      .output("x")
      .parameter("mean", finite())
      .parameter("variance", at_least(0), advice("0 is a point mass, inf no prior at all"))
      .log_density([](auto v, auto p) { return log_density(Gaussian::from_moments(p[0], p[1]), v[0]); })
      .gaussian_row(&GaussianPrior::row);
}

Kind gaussian_prior_kind() { return gaussian_prior_density().message<&GaussianPrior::to_x>(kExact, "x"); }

}  // namespace dma
