// Whether chains agree, and how many independent draws they are worth (Gelman et al., Bayesian Data Analysis,
// section 11.4).
#pragma once

#include <vector>

namespace dma::baselines {

struct ChainDiagnostics {
  double r_hat = 1;              // of the chains' halves: 1 when they agree
  double effective_samples = 0;  // of all chains together
};

// One series of numbers per chain, all of the same length, at least 4.
ChainDiagnostics diagnose(const std::vector<std::vector<double>>& chains);

}  // namespace dma::baselines
