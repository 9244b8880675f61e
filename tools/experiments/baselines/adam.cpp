#include "tools/experiments/baselines/adam.h"

#include <algorithm>
#include <cmath>

namespace dma::baselines {

Adam::Adam(Eigen::Index weights, AdamOptions options)
    : options_(options), first_(Eigen::VectorXd::Zero(weights)), second_(Eigen::VectorXd::Zero(weights)) {}

void Adam::step(const Eigen::VectorXd& gradient, Eigen::VectorXd& weights) {
  const AdamOptions o = options_;
  first_power_ *= o.first_decay;
  second_power_ *= o.second_decay;
  const double rate = o.rate / (1 - first_power_), scale = 1 / (1 - second_power_);
  const double kept = 1 - o.rate * o.weight_decay, *slope = gradient.data();
  double *first = first_.data(), *second = second_.data(), *weight = weights.data();
  for (Eigen::Index i = 0; i < weights.size(); ++i) {
    first[i] = o.first_decay * first[i] + (1 - o.first_decay) * slope[i];
    second[i] = o.second_decay * second[i] + (1 - o.second_decay) * slope[i] * slope[i];
    weight[i] = kept * weight[i] - rate * first[i] / (std::sqrt(second[i] * scale) + o.tiny);
  }
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
      const WeightPrior& prior = energy.prior();
      for (Eigen::Index i = 0; i < weights.size(); ++i)
        gradient[i] = gradient[i] / static_cast<double>(count) +
                      prior.precision[i] * (weights[i] - prior.mean[i]) / static_cast<double>(rows);
      adam.step(gradient, weights);
    }
    if (on_epoch && !on_epoch(epoch, weights)) return;
  }
}

}  // namespace dma::baselines
