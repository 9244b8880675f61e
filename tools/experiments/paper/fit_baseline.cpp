#include "tools/experiments/paper/fit_baseline.h"

#include <fmt/format.h>

#include <cmath>

#include "engine/support/dense.h"
#include "tools/experiments/baselines/laplace.h"
#include "tools/experiments/baselines/random_normal.h"
#include "tools/experiments/paper/fit_network.h"

namespace dma::reproduce {

namespace {

using baselines::Energy;
using baselines::Network;
using baselines::WeightPrior;
using Eigen::MatrixXd;
using Eigen::VectorXd;

Energy energy_of(const Task& task, WeightPrior prior) {
  return {network_of(task), task.data.inputs, task.data.targets, task.data.noise, std::move(prior)};
}

Prediction gaussian(MatrixXd mean, const MatrixXd& variance, double noise) {
  const MatrixXd noise_variance = MatrixXd::Constant(mean.rows(), mean.cols(), noise * noise);
  return Prediction::mix({std::move(mean)}, {variance}, {noise_variance});
}

// Mean and variance of the network's output over draws of its weights, as the paper scores Laplace and IVON.
Prediction moments(const Network& network, const std::vector<VectorXd>& draws, const MatrixXd& features, double noise) {
  MatrixXd mean = network.outputs(draws[0], features), squares = MatrixXd::Zero(mean.rows(), mean.cols());
  for (std::size_t k = 1; k < draws.size(); ++k) {
    const MatrixXd f = network.outputs(draws[k], features), off = f - mean;
    mean += off / static_cast<double>(k + 1);
    squares += off.cwiseProduct(f - mean);
  }
  return gaussian(mean, squares / static_cast<double>(draws.size()), noise);
}

}  // namespace

Network network_of(const Task& task) { return {task.data.layers, task.data.slopes}; }

Method adam_method(const baselines::AdamOptions& options, int batch_rows) {
  const bool decays = options.weight_decay > 0;
  std::string name =
      decays ? fmt::format("adamw-{}-{}", options.rate, options.weight_decay) : fmt::format("adam-{}", options.rate);
  std::string title = decays ? fmt::format("AdamW {}, decay {}", options.rate, options.weight_decay)
                             : fmt::format("Adam {}", options.rate);
  if (batch_rows > 0) {
    name += fmt::format("-batches-{}", batch_rows);
    title += fmt::format(", mini-batches of {}", batch_rows);
  }
  return {name, title, [=](const Task& task, std::uint64_t seed, const Effort&) {
            const Energy energy = energy_of(task, WeightPrior::none(network_of(task)));
            VectorXd weights = prior_means(task, seed);
            Fitted fitted;
            baselines::minimise(energy, options, task.optimiser_epochs, weights, batch_rows,
                                [&](int, const VectorXd& w) {
                                  fitted.curve.push_back(energy.mean_nll(w));
                                  return true;
                                });
            fitted.finite = weights.allFinite();
            fitted.predict = [weights, network = network_of(task), noise = task.data.noise](const MatrixXd& features) {
              MatrixXd f = network.outputs(weights, features);
              const MatrixXd certain = MatrixXd::Zero(f.rows(), f.cols());
              return gaussian(std::move(f), certain, noise);
            };
            return fitted;
          }};
}

Method ivon_method(std::string name, std::string title, const baselines::IvonOptions& options) {
  return {std::move(name), std::move(title), [=](const Task& task, std::uint64_t seed, const Effort& effort) {
            const Energy energy = energy_of(task, WeightPrior::none(network_of(task)));
            Fitted fitted;
            const auto state = baselines::ivon(energy, options, effort.ivon_epochs, prior_means(task, seed), seed,
                                               [&](int, const baselines::IvonState& s) {
                                                 fitted.curve.push_back(energy.mean_nll(s.mean));
                                                 return true;
                                               });
            const auto rows = static_cast<double>(energy.rows());
            fitted.finite = state.finite && std::isfinite(energy.mean_nll(state.mean));
            const baselines::DiagonalGaussian q{state.mean, state.sd(rows, options.damping)};
            fitted.predict = [q, network = network_of(task), noise = task.data.noise, effort,
                              seed](const MatrixXd& features) {
              return moments(network, q.sample(effort.posterior_samples, seed), features, noise);
            };
            return fitted;
          }};
}

Fitted fit_laplace(const Task& task, std::uint64_t seed, const Effort& effort, double scale) {
  const Network network = network_of(task);
  const Energy energy = energy_of(task, WeightPrior::centred(network, scale));
  VectorXd weights = prior_means(task, seed);
  Fitted fitted;
  baselines::minimise(energy, {.rate = 0.1}, 200, weights, 0, [&](int, const VectorXd& w) {
    fitted.curve.push_back(energy.mean_nll(w));
    return true;
  });
  const baselines::DiagonalGaussian q = baselines::laplace(energy, weights);
  fitted.predict = [q, network, noise = task.data.noise, effort, seed](const MatrixXd& features) {
    return moments(network, q.sample(effort.posterior_samples, seed), features, noise);
  };
  return fitted;
}

Fitted fit_linear(const Task& task, std::uint64_t, const Effort&) {
  const auto layers = static_cast<double>(task.data.layers.size() - 1);
  // A product of L matrices of independent entries of variance (1 + 1/L) / fan_in has entries of variance (1 + 1/L)^L /
  // inputs.
  const double variance = std::pow(1 + 1 / layers, layers) / static_cast<double>(task.data.layers.front());
  const double noise2 = task.data.noise * task.data.noise;
  const MatrixXd& x = task.data.inputs;
  MatrixXd factor = transposed_product(x, x) / noise2, weights = transposed_product(x, task.data.targets) / noise2;
  factor.diagonal().array() += 1 / variance;
  factorise_lower(factor);
  solve_lower(factor, weights);
  solve_lower_transposed(factor, weights);
  const double noise = task.data.noise;
  return {.predict = [factor, weights, noise](const MatrixXd& features) {
    MatrixXd solved = features.transpose();
    solve_lower(factor, solved);
    return gaussian(product_of(features, weights), squared_columns(solved).replicate(1, weights.cols()), noise);
  }};
}

}  // namespace dma::reproduce
