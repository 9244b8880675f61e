// The library's own network on a task, by one of its methods.
#pragma once

#include <map>
#include <optional>

#include "models/network/network_graph.h"
#include "tools/experiments/paper/methods.h"

namespace dma::reproduce {

// Differences from the paper's DMA.
struct NetworkChange {
  std::string method = "dma";
  std::map<std::string, std::string> kind_methods = {};
  // The settings of models/network/regression.h instead; only what the task states (widths, slopes, noise) is taken
  // from it.
  bool by_default = false;
  std::optional<double> tolerance = {};  // tolerance that ends learning, instead of the paper's 0.1
  // The prior the data come from, N(0, (1 + 1/L) / fan-in) with L layers of weights, instead of one around random
  // means.
  bool data_prior = false;
  // Slopes 1: a network that is linear in the features.
  bool linear = false;
  double smoothing = BnnShape{}.smoothing;  // for joint
  // Fits from different draws, mixed with equal weights; for joint, whose fit is the neighbourhood of one mode.
  std::size_t starts = 1;
};

Fitted fit_network(const Task& task, std::uint64_t seed, const Effort& effort, const NetworkChange& change);

// The network itself, for its weights.
Bnn fitted_network(const Task& task, std::uint64_t seed, const Effort& effort, const NetworkChange& change,
                   FitReport& report);

// The prior means that the paper's network of this seed draws, layer after layer: where every optimiser starts.
Eigen::VectorXd prior_means(const Task& task, std::uint64_t seed);

}  // namespace dma::reproduce
