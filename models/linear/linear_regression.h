// Bayesian linear regression: infers the weights jointly, the noise variance, and the prior variance of the weights
// (shared, for inputs of standard deviation 1).
//
//   const LinearFit fit = linear_regression(x, y);             // one row per observation
//   fit.weights, fit.covariance, fit.log_evidence;
//   const LinearFit::Prediction there = fit.predict(new_x);    // mean and sd, with and without the noise
#pragma once

#include <Eigen/Core>
#include <optional>

namespace dma {

struct LinearRegressionOptions {
  std::optional<double> noise_variance = {};  // none: inferred
  std::optional<double> prior_variance =
      {};  // prior variance of the weights of standardised inputs, in variances of y; none: inferred
};

struct LinearFit {
  Eigen::VectorXd weights;                        // for the inputs as given, then the intercept
  Eigen::MatrixXd covariance;                     // covariance of `weights`
  double noise_variance = 0, prior_variance = 0;  // expected values
  double log_evidence = 0;                        // at the most probable variances
  bool converged = false;

  struct Prediction {
    Eigen::VectorXd mean, sd, epistemic_sd;  // sd: of a new value; epistemic_sd: of the line
  };
  Prediction predict(const Eigen::MatrixXd& x) const;  // at new rows
};

LinearFit linear_regression(const Eigen::MatrixXd& x, const Eigen::VectorXd& y,
                            const LinearRegressionOptions& options = {});  // x: rows x inputs

}  // namespace dma
