#include "tools/experiments/baselines/adam.h"

#include <algorithm>
#include <cmath>

namespace dma::baselines {

Adam::Adam(Eigen::Index weights, AdamOptions options)
    : options_(options), first_(Eigen::VectorXd::Zero(weights)), second_(Eigen::VectorXd::Zero(weights)) {}

void Adam::step(const Eigen::VectorXd& gradient, Eigen::VectorXd& weights) {
  const AdamOptions& o = options_;
  first_power_ *= o.first_decay;
  second_power_ *= o.second_decay;
  first_ = o.first_decay * first_ + (1 - o.first_decay) * gradient;
  second_ = o.second_decay * second_ + (1 - o.second_decay) * gradient.cwiseAbs2();
  const double rate = o.rate / (1 - first_power_), scale = 1 / (1 - second_power_);
  weights *= 1 - o.rate * o.weight_decay;
  weights.array() -= rate * first_.array() / ((second_.array() * scale).sqrt() + o.tiny);
}

void minimise(const Energy& energy, const AdamOptions& options, int epochs, Eigen::VectorXd& weights,
              Eigen::Index batch_rows, const std::function<bool(int, const Eigen::VectorXd&)>& on_epoch) {
  Adam adam(weights.size(), options);
  Eigen::VectorXd gradient;
  const Eigen::Index rows = energy.rows(), step = batch_rows > 0 ? batch_rows : rows;
  for (int epoch = 1; epoch <= epochs; ++epoch) {
    for (Eigen::Index begin = 0; begin < rows; begin += step) {
      const Eigen::Index count = std::min(step, rows - begin);
      energy.likelihood_gradient(weights, begin, count, gradient);
      gradient /= static_cast<double>(count);
      gradient.array() +=
          energy.prior().precision.array() * (weights - energy.prior().mean).array() / static_cast<double>(rows);
      adam.step(gradient, weights);
    }
    if (on_epoch && !on_epoch(epoch, weights)) return;
  }
}

}  // namespace dma::baselines
