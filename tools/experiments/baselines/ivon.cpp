#include "tools/experiments/baselines/ivon.h"

#include "tools/experiments/baselines/random_normal.h"

namespace dma::baselines {

Eigen::VectorXd IvonState::sd(double rows, double damping) const {
  return (rows * (curvature.array() + damping)).rsqrt().matrix();
}

IvonState ivon(const Energy& energy, const IvonOptions& o, int epochs, const Eigen::VectorXd& start, std::uint64_t seed,
               const std::function<bool(int, const IvonState&)>& on_epoch) {
  const Eigen::Index size = start.size();
  const auto rows = static_cast<double>(energy.rows());
  const double rate = o.rescale_rate ? o.rate * (o.first_curvature + o.damping) : o.rate;
  IvonState state{start, Eigen::VectorXd::Constant(size, o.first_curvature), Eigen::VectorXd::Zero(size)};
  RandomNormal normal(seed);
  Eigen::VectorXd gradient;
  double first_power = 1;
  for (int epoch = 1; epoch <= epochs; ++epoch) {
    const Eigen::VectorXd sd = state.sd(rows, o.damping), draw = normal.vector(size);
    energy.likelihood_gradient(state.mean + sd.cwiseProduct(draw), 0, energy.rows(), gradient);
    gradient /= rows;
    // Reparametrised estimate of the Hessian's diagonal: E[g (theta - m)] / sd^2.
    const Eigen::ArrayXd sampled = gradient.array() * draw.array() / sd.array();
    state.gradient = o.first_decay * state.gradient + (1 - o.first_decay) * gradient;
    first_power *= o.first_decay;
    const Eigen::ArrayXd h = state.curvature.array();
    const double step = 1 - o.second_decay;
    // The last term keeps h + damping positive whatever was sampled.
    state.curvature =
        (o.second_decay * h + step * sampled + 0.5 * step * step * (h - sampled).square() / (h + o.damping)).matrix();
    state.mean.array() -= rate * (state.gradient.array() / (1 - first_power) + o.damping * state.mean.array()) /
                          (state.curvature.array() + o.damping);
    state.finite =
        state.mean.allFinite() && state.curvature.allFinite() && (state.curvature.array() + o.damping > 0).all();
    if (!state.finite || (on_epoch && !on_epoch(epoch, state))) return state;
  }
  return state;
}

}  // namespace dma::baselines
