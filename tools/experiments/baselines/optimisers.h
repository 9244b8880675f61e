// Adam (Kingma and Ba 2015) and AdamW (Loshchilov and Hutter 2019), IVON (Shen et al. 2024) and the diagonal Laplace
// approximation (MacKay 1992), all on the energy of a network.
#pragma once

#include <Eigen/Dense>
#include <cstdint>
#include <functional>
#include <vector>

#include "tools/experiments/baselines/network.h"

namespace dma::baselines {

struct AdamOptions {
  double rate = 1e-3;
  double first_decay = 0.9, second_decay = 0.999;
  double tiny = 1e-8;
  double weight_decay = 0;  // decoupled: every step first takes rate * weight_decay of each weight away
};

// One optimiser's memory; step() moves the weights against a gradient.
class Adam {
 public:
  Adam(Eigen::Index weights, AdamOptions options);
  void step(const Eigen::VectorXd& gradient, Eigen::VectorXd& weights);

 private:
  AdamOptions options_;
  Eigen::ArrayXd first_, second_;
  double first_power_ = 1, second_power_ = 1;
};

// Minimises E / rows by Adam for that many epochs, from the weights given: one step on all rows per epoch, or with
// `batch_rows` one step per that many rows in their order. on_epoch sees the weights after each epoch; false stops.
void minimise(const Energy& energy, const AdamOptions& options, int epochs, Eigen::VectorXd& weights,
              Eigen::Index batch_rows = 0, const std::function<bool(int, const Eigen::VectorXd&)>& on_epoch = {});

// A Gaussian with independent weights.
struct DiagonalGaussian {
  Eigen::VectorXd mean, sd;
  std::vector<Eigen::VectorXd> sample(int count, std::uint64_t seed) const;
};

// At a minimum of the energy, with the inverse of the Hessian's exact diagonal for variances.
DiagonalGaussian laplace(const Energy& energy, const Eigen::VectorXd& minimum);

// The improved variational online Newton method, Algorithm 1: a diagonal Gaussian over the weights, learned with the
// effort of Adam from one sampled gradient per step.
struct IvonOptions {
  double rate = 0.1;
  double first_decay = 0.9;      // beta_1, for the running mean of the gradient
  double second_decay = 0.9999;  // beta_2, for the curvature
  double damping = 0.1;          // delta: prior precision / rows, and the damping of the curvature
  double first_curvature = 1;    // h at the start
};

struct IvonState {
  Eigen::VectorXd mean;
  Eigen::ArrayXd curvature, gradient;  // h and the running mean of gradients
  bool finite = true;                  // false: a mean or curvature is not finite, or a variance not positive

  // Standard deviation 1 / sqrt(rows (h + damping)).
  Eigen::VectorXd sd(double rows, double damping) const;
};

// One step on all rows per epoch, on the mean negative log-likelihood; the energy's prior does not enter, since the
// damping is IVON's. on_epoch sees the state after each epoch; false stops. Ends when the state is no longer finite.
IvonState ivon(const Energy& energy, const IvonOptions& options, int epochs, const Eigen::VectorXd& start,
               std::uint64_t seed, const std::function<bool(int, const IvonState&)>& on_epoch = {});

}  // namespace dma::baselines
