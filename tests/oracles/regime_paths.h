// A switching state space by enumeration: one plain Kalman filter and Rauch-Tung-Striebel smoother per path of regimes.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "tests/oracles/plain_matrix.h"

namespace dma::oracle {

struct PlainRegime {
  PlainMatrix a, q, h, r;
};

struct PathMoments {
  std::vector<double> probability;  // by regime
  PlainMatrix mean, covariance;
};

struct RegimePaths {
  double log_evidence = 0;
  std::vector<PathMoments> filtered, smoothed;  // by step
};

// `values` step by step, one per row of h.
RegimePaths enumerate_paths(const std::vector<PlainRegime>& regimes, const PlainMatrix& start,
                            const PlainMatrix& transition, const PlainMatrix& mean, const PlainMatrix& covariance,
                            std::span<const std::optional<double>> values);

}  // namespace dma::oracle
