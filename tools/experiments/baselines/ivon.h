// IVON, the improved variational online Newton method (Shen et al. 2024, Algorithm 1): a diagonal Gaussian over the
// weights, learned with the effort of Adam from one sampled gradient a step.
#pragma once

#include <Eigen/Dense>
#include <cstdint>
#include <functional>

#include "tools/experiments/baselines/network.h"

namespace dma::baselines {

struct IvonOptions {
  double rate = 0.1;
  double first_decay = 0.9;      // beta_1, for the running mean of the gradient
  double second_decay = 0.9999;  // beta_2, for the curvature
  double damping = 0.1;          // delta: prior precision / rows, and the damping of the curvature
  double first_curvature = 1;    // h at the start
};

struct IvonState {
  Eigen::VectorXd mean, curvature, gradient;  // h and the running mean of gradients
  bool finite = true;                         // false: means or curvatures left the numbers, or a variance its sign

  // Standard deviation 1 / sqrt(rows (h + damping)).
  Eigen::VectorXd sd(double rows, double damping) const;
};

// One step on all rows per epoch, on the mean negative log-likelihood (the energy's prior does not enter: damping is
// IVON's). on_epoch sees the state after each epoch; false stops. Ends early when the state is no longer finite.
IvonState ivon(const Energy& energy, const IvonOptions& options, int epochs, const Eigen::VectorXd& start,
               std::uint64_t seed, const std::function<bool(int, const IvonState&)>& on_epoch = {});

}  // namespace dma::baselines
