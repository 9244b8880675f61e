// A linear regression of which everything is inferred: its weights together, the variance of the noise, and how large
// weights are (one number for all, on inputs of standard deviation 1).
//
//   const LinearFit fit = linear_regression(x, y);             // a row for each observation
//   fit.weights, fit.covariance, fit.log_evidence;
//   const LinearFit::Prediction there = fit.predict(new_x);    // mean and sd, with and without the noise
#pragma once

#include <Eigen/Core>
#include <optional>

namespace dma {

struct LinearRegressionOptions {
  std::optional<double> noise_variance = {};  // none: inferred
  std::optional<double> prior_variance =
      {};  // of the weights of standardised inputs, in variances of y; none: inferred
};

struct LinearFit {
  Eigen::VectorXd weights;                        // of the inputs as they were given, then the intercept
  Eigen::MatrixXd covariance;                     // of those
  double noise_variance = 0, prior_variance = 0;  // expected
  double log_evidence = 0;                        // at the variances under which y is most probable
  bool converged = false;

  struct Prediction {
    Eigen::VectorXd mean, sd, epistemic_sd;  // of a value observed there; of the line alone
  };
  Prediction predict(const Eigen::MatrixXd& x) const;
};

LinearFit linear_regression(const Eigen::MatrixXd& x, const Eigen::VectorXd& y,
                            const LinearRegressionOptions& options = {});

}  // namespace dma
