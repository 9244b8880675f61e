// Numbers from one of several Gaussians: the states of a hidden Markov model, the components of a mixture.
#pragma once

#include <Eigen/Core>
#include <optional>
#include <span>

namespace dma {

struct GaussianEmission {
  Eigen::VectorXd mean, variance;  // one per Gaussian
};

// Sets the means and variances that make the values most probable, where row i, column k of `probability` is the
// probability that value i comes from Gaussian k. A Gaussian without values is unchanged. `prior`, a variance, counts
// as one more value of every Gaussian, at that distance from its mean. A variance is at least a millionth of that of
// all values, unless it was smaller before: so no step of learning makes the values less probable.
void refit(GaussianEmission& emission, const Eigen::MatrixXd& probability,
           std::span<const std::optional<double>> values, double prior = 0);

}  // namespace dma
