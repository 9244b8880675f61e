// Reproducible linear-Gaussian graphs of scalar nodes.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "tests/oracles/solved.h"

namespace dma::oracle {

struct GivenGraph {
  Graph graph;
  std::map<std::uint32_t, double> observed;

  std::vector<Given> values() const {
    std::vector<Given> all;
    for (const auto& [variable, value] : observed) all.emplace_back(VariableId{variable}, value);
    return all;
  }
  void observe_in(State& state) const {
    for (const Given& given : values()) given.observe_in(state);
  }
};

// A tree of about `variables` variables (factors gaussian_prior, gaussian_noise, sum with coefficients, copy, product
// with an observed input, data flow in either direction along each) with random observed leaves. Its posterior is
// proper.
// `hub`: the fraction of them that is attached to the first variable; it and others then have several priors.
GivenGraph random_tree(std::uint64_t seed, std::size_t variables, double hub = 0);

// A ring of `variables` latent variables with priors of variance 1, each tied to the next by a sum with an observed
// total under unit noise and coefficients (1, coupling): loopy for messages, and the weaker the coupling, the sooner
// converged.
GivenGraph ring(std::uint64_t seed, std::size_t variables, double coupling);

// A grid of `side` x `side` latent variables with priors and noisy differences to the right and below.
GivenGraph grid(std::uint64_t seed, std::size_t side);

// Numbers of size 0.2 to 3, one per element of every variable.
std::vector<std::vector<double>> random_values(const Graph& graph, std::uint64_t seed);

}  // namespace dma::oracle
