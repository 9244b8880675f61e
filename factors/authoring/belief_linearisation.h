// Messages of y = g(x_1, ..., x_k) linearised at the belief of x, given all arriving messages, y's included: the
// iterated posterior linearisation of Garcia-Fernandez, Svensson and Sarkka (2016). With x ~ N(m, P) the best linear
// fit is
//
//   y = E[g] + A (x - m) + e      A = P^-1 Cov(x, g)      Var e = Var[g] - A P A' >= 0
//
// The messages of that linear factor give a new belief, and so on until it converges. Linearising at x's own message
// would miss any g that bends within its width: exp(x) = 3 +- 0.1 under N(0, 4) would give almost no information.
// Gauss-Newton steps to the most probable x give the first belief: from a wide one, the iteration may end wide.
#pragma once

#include <Eigen/Core>
#include <span>

#include "factors/authoring/peaks.h"

namespace dma {

inline constexpr int kMostInputs = 3;

using InputVector = Eigen::Matrix<double, Eigen::Dynamic, 1, 0, kMostInputs, 1>;
using InputMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, kMostInputs, kMostInputs>;

// y = value + gains (x - m) + e, Var e = noise.
struct LinearisedFunction {
  double value = 0, noise = 0;
  InputVector gains;
};

// The fit of g under N(mean, covariance), by reference; covariance 0 requests value and derivatives at the mean.
using FitOfFunction = CallTo<LinearisedFunction(const InputVector& mean, const InputMatrix& covariance)>;

// Moments of g under the arriving messages.
Gaussian fitted_to_output(const FitOfFunction& fit, std::span<const Gaussian> x);
// To x_i. Uniform if an arriving message is, or if g does not depend on x_i; not valid if g is not a number; otherwise
// proper.
Gaussian fitted_to_input(const FitOfFunction& fit, std::size_t i, std::span<const Gaussian> x, const Gaussian& y);

}  // namespace dma
