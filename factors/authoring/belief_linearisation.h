// Messages of y = g(x_1, ..., x_k) linearised where x is believed to be, given everything that arrives, y's message
// included: the iterated posterior linearisation of Garcia-Fernandez, Svensson and Sarkka (2016). With x ~ N(m, P) the
// best linear fit is
//
//   y = E[g] + A (x - m) + e      A = P^-1 Cov(x, g)      Var e = Var[g] - A P A' >= 0
//
// The messages of that linear factor give a new belief, and so on until it stays. Linearising about what arrives on x
// alone would miss any g that bends within that width: of exp(x) = 3 +- 0.1 under N(0, 4) nearly nothing would be
// learned. A first belief is found by Gauss-Newton steps to the most probable x: starting wide, the iteration may end
// wide.
#pragma once

#include <Eigen/Core>
#include <span>

#include "engine/messages/gaussian.h"

namespace dma {

inline constexpr int kMostInputs = 3;

using InputVector = Eigen::Matrix<double, Eigen::Dynamic, 1, 0, kMostInputs, 1>;
using InputMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, kMostInputs, kMostInputs>;

// y = value + gains (x - m) + e, Var e = noise.
struct LinearisedFunction {
  double value = 0, noise = 0;
  InputVector gains;
};

// The fit of g under N(mean, covariance), by reference; a covariance of 0 asks for value and derivatives at the mean.
class FitOfFunction {
 public:
  template <class F>
  FitOfFunction(const F& f)
      : object_(&f), call_([](const void* object, const InputVector& mean, const InputMatrix& covariance) {
          return (*static_cast<const F*>(object))(mean, covariance);
        }) {}
  LinearisedFunction operator()(const InputVector& mean, const InputMatrix& covariance) const {
    return call_(object_, mean, covariance);
  }

 private:
  const void* object_;
  LinearisedFunction (*call_)(const void*, const InputVector&, const InputMatrix&);
};

// Moments of g under the arriving messages.
Gaussian fitted_to_output(const FitOfFunction& fit, std::span<const Gaussian> x);
// To x_i. Uniform where an arrival is, and where g does not depend on x_i; not valid where g is not a number; proper
// otherwise.
Gaussian fitted_to_input(const FitOfFunction& fit, std::size_t i, std::span<const Gaussian> x, const Gaussian& y);

}  // namespace dma
