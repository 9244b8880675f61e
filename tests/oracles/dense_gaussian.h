// The exact posterior of a linear-Gaussian graph of scalar nodes by one dense solve: no messages, no order, no loops.
#pragma once

#include <map>
#include <vector>

#include "engine/graph/graph.h"

namespace dma::oracle {

struct DensePosterior {
  std::vector<double> mean, variance;  // by variable
};

// Kinds gaussian_prior, gaussian_noise, sum, copy, and product with one observed input. `observed` gives every observed
// variable its value. With quadratic terms x' K x / 2 - h' x from the densities and the deterministic factors and
// observations as constraints A x = b, the posterior is the solution of
//
//   [ K  A' ] [ x ]   [ h ]
//   [ A  0  ] [ l ] = [ b ]
//
// and its covariance the upper left block of the inverse. The posterior must be proper and no two constraints
// redundant.
DensePosterior dense_posterior(const Graph& graph, const std::map<std::uint32_t, double>& observed);

}  // namespace dma::oracle
