// Hamiltonian Monte Carlo (Neal 2011) with several chains: leapfrog steps of adapted size, a diagonal metric learned
// while warming up, trajectories of random length.
#pragma once

#include <Eigen/Dense>
#include <cstdint>
#include <functional>
#include <vector>

namespace dma::baselines {

// Minus the log density but for a constant, and its gradient.
using EnergyFunction = std::function<double(const Eigen::VectorXd& at, Eigen::VectorXd& gradient)>;

struct HmcOptions {
  int warm_up = 1000, samples = 1000;  // iterations of a chain
  int longest = 64;                    // leapfrog steps of a trajectory: uniform on 1..longest
  int keep_every = 1;                  // one sample in this many is kept
  double acceptance = 0.8;             // acceptance probability that the step size is adapted to
};

struct Chain {
  std::vector<Eigen::VectorXd> samples;
  double acceptance = 0;  // mean probability after the warm-up
  std::int64_t gradients = 0;
};

// One chain from `start`; the same seed gives the same chain. Chains are independent: run them on as many threads as
// you like.
Chain hmc_chain(const EnergyFunction& energy, const Eigen::VectorXd& start, const HmcOptions& options,
                std::uint64_t seed);

}  // namespace dma::baselines
