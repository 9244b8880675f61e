// The maximum of a smooth function of a few numbers, by quasi-Newton steps (BFGS) inside a box. The minimum of a
// function of one number.
#pragma once

#include <Eigen/Core>
#include <functional>

namespace dma {

struct Maximum {
  Eigen::VectorXd at;
  double value = 0;
  int evaluations = 0;
  bool converged = false;  // the gradient is small, or a step along it gains nothing; false: the limit was reached
};

struct MaximiseOptions {
  double low = -1e300, high = 1e300;  // bounds of every number
  double tolerance = 1e-7;            // on the gradient
  int limit = 500;                    // largest number of evaluations
};

// `function` writes its gradient to the second argument. A NaN value counts as a bad step.
Maximum maximise(const std::function<double(const Eigen::VectorXd&, Eigen::VectorXd&)>& function, Eigen::VectorXd start,
                 const MaximiseOptions& options = {});

struct Minimum {
  double at, value;
};
// Minimum of a function of one number between low and high, to so many bits, by Brent's method.
Minimum minimise(const std::function<double(double)>& function, double low, double high, int bits);

}  // namespace dma
