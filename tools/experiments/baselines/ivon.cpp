#include "tools/experiments/baselines/ivon.h"

#include <cmath>

#include "tools/experiments/baselines/random_normal.h"

namespace dma::baselines {

Eigen::VectorXd IvonState::sd(double rows, double damping) const {
  Eigen::VectorXd all = curvature;
  for (double& x : all) x = 1 / std::sqrt(rows * (x + damping));
  return all;
}

IvonState ivon(const Energy& energy, const IvonOptions& o, int epochs, const Eigen::VectorXd& start, std::uint64_t seed,
               const std::function<bool(int, const IvonState&)>& on_epoch) {
  const Eigen::Index size = start.size();
  const auto rows = static_cast<double>(energy.rows());
  const double rate = o.rate * (o.first_curvature + o.damping);  // as the authors' program has it
  IvonState state{start, Eigen::VectorXd::Constant(size, o.first_curvature), Eigen::VectorXd::Zero(size)};
  RandomNormal normal(seed);
  Eigen::VectorXd gradient, weights(size);
  double first_power = 1;
  const double step = 1 - o.second_decay;
  for (int epoch = 1; epoch <= epochs; ++epoch) {
    const Eigen::VectorXd sd = state.sd(rows, o.damping), draw = normal.vector(size);
    for (Eigen::Index i = 0; i < size; ++i) weights[i] = state.mean[i] + sd[i] * draw[i];
    energy.likelihood_gradient(weights, 0, energy.rows(), gradient);
    first_power *= o.first_decay;
    for (Eigen::Index i = 0; i < size; ++i) {
      double &mean = state.mean[i], &h = state.curvature[i], &running = state.gradient[i];
      const double slope = gradient[i] / rows;
      // Reparametrised estimate of the Hessian's diagonal: E[g (theta - m)] / sd^2.
      const double sampled = slope * draw[i] / sd[i], off = h - sampled;
      running = o.first_decay * running + (1 - o.first_decay) * slope;
      // The last term keeps h + damping positive whatever was sampled.
      h = o.second_decay * h + step * sampled + 0.5 * step * step * off * off / (h + o.damping);
      mean -= rate * (running / (1 - first_power) + o.damping * mean) / (h + o.damping);
      state.finite = state.finite && std::isfinite(mean) && std::isfinite(h) && h + o.damping > 0;
    }
    if (!state.finite || (on_epoch && !on_epoch(epoch, state))) return state;
  }
  return state;
}

}  // namespace dma::baselines
