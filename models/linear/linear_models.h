// Bayesian linear regression: infers the weights jointly, the noise variance, and the prior variance of the weights
// (shared, for inputs of standard deviation 1).
//
//   const LinearFit fit = linear_regression(x, y);             // one row per observation
//   fit.weights, fit.covariance, fit.log_evidence;
//   const LinearFit::Prediction there = fit.predict(new_x);    // mean and sd, with and without the noise
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "engine/run/run.h"

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

// A table of numbers as a product of two narrow matrices, rows times columns, plus noise: it fills in missing entries,
// with intervals. All factors are solved jointly; their size and the noise are learned.
//
//  const Factorisation found = factorise(values, {.rank = 2});   // NaN: missing
//  found.mean(3, 5), found.sd(3, 5);                             // of the entry, without the noise
struct FactorisationOptions {
  std::size_t rank = 2;
  // None: learned. Both factors have the prior N(0, factor_variance): subtract the mean from values far from 0.
  std::optional<double> noise_variance = {}, factor_variance = {};
  // Number of starts at draws from the prior; the most probable result is kept.
  int starts = 3;
  std::uint64_t seed = 1;
};

struct Factorisation {
  Eigen::MatrixXd rows, columns;  // means of the factors, up to a rotation of both
  Eigen::MatrixXd mean, sd;       // by entry, without the noise of a new observation
  double noise_variance = 0, factor_variance = 0;
  Report report;         // the last solution's
  bool settled = false;  // the variances converged
};

// An Error if there are no values, or one is infinite.
Factorisation factorise(const Eigen::MatrixXd& values, const FactorisationOptions& options = {});

}  // namespace dma
