// Clustering: rows of numbers as a mixture of Gaussians, with the number of components chosen by evidence.
//
//  const MixtureFit fit = gaussian_mixture(x);         // one row per observation
//  fit.components(), fit.mean, fit.probability;        // probability: of each component, by row
//  fit.candidates;                                     // the log evidence of 1, 2, ... components
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <vector>

namespace dma {

struct MixtureOptions {
  std::size_t components = 0;       // 0: the number with the largest evidence
  std::size_t most_components = 8;  // largest number tried
  std::size_t starts = 5;           // restarts for each number; the best is kept
  double tolerance = 1e-6;          // on the log-likelihood
  int limit = 500;
  std::uint64_t seed = 1;
};

struct MixtureFit {
  Eigen::VectorXd weight;          // by component, the largest first
  Eigen::MatrixXd mean, variance;  // component x column
  Eigen::MatrixXd probability;     // row x component
  double log_likelihood = 0;       // over all rows
  // Log evidence of the number of components: the log-likelihood minus half the logarithm of the number of rows per
  // parameter (Schwarz's approximation).
  double log_evidence = 0;
  bool converged = false;
  std::vector<double> candidates = {};  // log evidence of 1, 2, ... components, as far as tried

  std::size_t components() const { return static_cast<std::size_t>(weight.size()); }  // number of clusters
};

MixtureFit gaussian_mixture(const Eigen::MatrixXd& x, const MixtureOptions& options = {});  // x: rows x columns

}  // namespace dma
