// Clusters: rows of numbers as a mixture of Gaussians, as many as the evidence is for.
//
//   const MixtureFit fit = gaussian_mixture(x);         // a row for each observation
//   fit.components(), fit.mean, fit.probability;        // which row is of which
//   fit.candidates;                                     // the log evidence of 1, 2, ... components
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <vector>

namespace dma {

struct MixtureOptions {
  std::size_t components = 0;       // 0: the number with the largest evidence
  std::size_t most_components = 8;  // that are tried
  std::size_t starts = 5;           // of learning, for each number; the best is kept
  double tolerance = 1e-6;          // of the log-likelihood
  int limit = 500;
  std::uint64_t seed = 1;
};

struct MixtureFit {
  Eigen::VectorXd weight;          // by component, the largest first
  Eigen::MatrixXd mean, variance;  // component x column
  Eigen::MatrixXd probability;     // row x component
  double log_likelihood = 0;       // of all rows
  // Of the number of components: the log-likelihood less what its parameters cost, half the logarithm of the number of
  // rows each (Schwarz's approximation).
  double log_evidence = 0;
  bool converged = false;
  std::vector<double> candidates = {};  // log evidence of 1, 2, ... components, as far as was tried

  std::size_t components() const { return static_cast<std::size_t>(weight.size()); }
};

MixtureFit gaussian_mixture(const Eigen::MatrixXd& x, const MixtureOptions& options = {});

}  // namespace dma
