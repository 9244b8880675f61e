// Numbers from one of several Gaussians: the states of a hidden Markov model, the components of a mixture.
#pragma once

#include <Eigen/Core>
#include <optional>
#include <span>

namespace dma {

struct GaussianEmission {
  Eigen::VectorXd mean, variance;  // of each
};

// Where each value is of each Gaussian with the probability in its row and column, the means and variances that make
// the values most probable. A Gaussian with no value stays as it was. `prior`, a variance, counts as one value more of
// every Gaussian, at that distance from its mean. A variance falls to a millionth of that of all values at least,
// unless it was smaller before: so no step of learning makes the values less probable.
void refit(GaussianEmission& emission, const Eigen::MatrixXd& probability,
           std::span<const std::optional<double>> values, double prior = 0);

}  // namespace dma
