// Adam (Kingma and Ba 2015) and AdamW (Loshchilov and Hutter 2019).
#pragma once

#include <Eigen/Dense>
#include <functional>

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
  Eigen::VectorXd first_, second_;
  double first_power_ = 1, second_power_ = 1;
};

// Minimises E / rows for that many epochs from where `weights` stands: one step on all rows per epoch, or with
// `batch_rows` one step per that many rows in their order. on_epoch sees the weights after each epoch; false stops.
void minimise(const Energy& energy, const AdamOptions& options, int epochs, Eigen::VectorXd& weights,
              Eigen::Index batch_rows = 0, const std::function<bool(int, const Eigen::VectorXd&)>& on_epoch = {});

}  // namespace dma::baselines
