#include "tools/experiments/baselines/optimisers.h"

#include <algorithm>
#include <cmath>

#include "engine/support/text.h"
#include "tools/experiments/baselines/random_normal.h"

namespace dma::baselines {

using Eigen::VectorXd;

Adam::Adam(Eigen::Index weights, AdamOptions options)
    : options_(options), first_(Eigen::ArrayXd::Zero(weights)), second_(first_) {}

void Adam::step(const VectorXd& gradient, VectorXd& weights) {
  const AdamOptions& o = options_;
  const auto slope = gradient.array();
  first_power_ *= o.first_decay;
  second_power_ *= o.second_decay;
  const double rate = o.rate / (1 - first_power_), scale = 1 / (1 - second_power_), kept = 1 - o.rate * o.weight_decay;
  first_ = o.first_decay * first_ + (1 - o.first_decay) * slope;
  second_ = o.second_decay * second_ + (1 - o.second_decay) * slope * slope;
  weights.array() = kept * weights.array() - rate * first_ / ((second_ * scale).sqrt() + o.tiny);
}

void minimise(const Energy& energy, const AdamOptions& options, int epochs, VectorXd& weights, Eigen::Index batch_rows,
              const std::function<bool(int, const VectorXd&)>& on_epoch) {
  Adam adam(weights.size(), options);
  VectorXd gradient;
  const WeightPrior& prior = energy.prior();
  const Eigen::Index rows = energy.rows(), step = batch_rows > 0 ? batch_rows : rows;
  for (int epoch = 1; epoch <= epochs; ++epoch) {
    for (Eigen::Index begin = 0; begin < rows; begin += step) {
      const Eigen::Index count = std::min(step, rows - begin);
      energy.likelihood_gradient(weights, begin, count, gradient);
      gradient = gradient / static_cast<double>(count) +
                 prior.precision.cwiseProduct(weights - prior.mean) / static_cast<double>(rows);
      adam.step(gradient, weights);
    }
    if (on_epoch && !on_epoch(epoch, weights)) return;
  }
}

std::vector<VectorXd> DiagonalGaussian::sample(int count, std::uint64_t seed) const {
  RandomNormal normal(seed);
  std::vector<VectorXd> all;
  for (int i = 0; i < count; ++i) all.emplace_back(mean + sd.cwiseProduct(normal.vector(mean.size())));
  return all;
}

DiagonalGaussian laplace(const Energy& energy, const VectorXd& minimum) {
  const VectorXd diagonal = energy.hessian_diagonal(minimum);
  if (!(diagonal.array() > 0).all())
    fail("Laplace: a weight without prior that no row depends on has no variance; give the energy a prior");
  return {minimum, diagonal.array().sqrt().inverse()};
}

VectorXd IvonState::sd(double rows, double damping) const { return (rows * (curvature + damping)).sqrt().inverse(); }

IvonState ivon(const Energy& energy, const IvonOptions& o, int epochs, const VectorXd& start, std::uint64_t seed,
               const std::function<bool(int, const IvonState&)>& on_epoch) {
  const Eigen::Index size = start.size();
  const auto rows = static_cast<double>(energy.rows());
  const double rate = o.rate * (o.first_curvature + o.damping);  // as the authors' program has it
  IvonState state{start, Eigen::ArrayXd::Constant(size, o.first_curvature), Eigen::ArrayXd::Zero(size)};
  Eigen::ArrayXd& h = state.curvature;
  RandomNormal normal(seed);
  VectorXd gradient;
  double first_power = 1;
  const double step = 1 - o.second_decay;
  for (int epoch = 1; epoch <= epochs; ++epoch) {
    const VectorXd sd = state.sd(rows, o.damping), draw = normal.vector(size);
    energy.likelihood_gradient(state.mean + sd.cwiseProduct(draw), 0, energy.rows(), gradient);
    first_power *= o.first_decay;
    const Eigen::ArrayXd slope = gradient.array() / rows;
    // Reparametrised estimate of the Hessian's diagonal: E[g (theta - m)] / sd^2.
    const Eigen::ArrayXd sampled = slope * draw.array() / sd.array(), off = h - sampled;
    state.gradient = o.first_decay * state.gradient + (1 - o.first_decay) * slope;
    // The last term keeps h + damping positive whatever was sampled.
    h = o.second_decay * h + step * sampled + 0.5 * step * step * off * off / (h + o.damping);
    state.mean.array() -=
        rate * (state.gradient / (1 - first_power) + o.damping * state.mean.array()) / (h + o.damping);
    state.finite = state.mean.allFinite() && h.allFinite() && (h + o.damping > 0).all();
    if (!state.finite || (on_epoch && !on_epoch(epoch, state))) return state;
  }
  return state;
}

}  // namespace dma::baselines
