#include "factors/likelihoods/gaussian_noise.h"

#include "engine/kinds/kind.h"
#include "factors/authoring/from_function.h"

namespace dma {

Gaussian GaussianNoise::closed_elsewhere(double tau, double rho, double mean) { return closed(tau, rho, mean); }

void GaussianNoise::row(const RowCall& call) {
  for (std::size_t s = 0; s < call.slots; ++s) {
    call.coefficient(0)[s] = -1;
    call.coefficient(1)[s] = 1;
    call.offset[s] = 0;
    call.variance[s] = call.parameter_row(s).number(0);
  }
}

Kind gaussian_noise_density() {
  return kind("gaussian_noise", "N(y; x, variance)")
      .input("x")
      .output("y")
      .parameter("variance", at_least(0), finite())
      .log_density([](auto v, auto p) { return log_density(Gaussian::from_moments(v[0], p[0]), v[1]); })
      .gaussian_row(&GaussianNoise::row);
}

Kind gaussian_noise_kind() {
  return gaussian_noise_density()
      .message<&GaussianNoise::to_y>(kExact, "y")
      .message<&GaussianNoise::to_x>(kExact, "x")
      .chain_pair<&GaussianNoise::to_y, &GaussianNoise::to_x>(kExact, "y", "x");
}

Kind gaussian_log_variance_kind() {
  return noise_from_log_variance(
      "gaussian_log_variance", "log_variance", [](double z, auto) { return z; },
      "N(y; x, exp(log_variance)), of a log variance that is unknown");
}

}  // namespace dma
