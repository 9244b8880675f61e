// The exact posterior by Hamiltonian Monte Carlo, with what says how far it can be trusted.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

#include "engine/joint/joint.h"
#include "engine/support/whole_number.h"
#include "tools/experiments/baselines/hmc.h"
#include "tools/experiments/baselines/random_normal.h"
#include "tools/experiments/paper/methods.h"
#include "tools/experiments/paper/scores.h"

namespace dma::reproduce {

namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr std::size_t kMixture = 800;  // draws that make the predictive, of all chains together

baselines::Energy posterior_of(const Task& task, std::uint64_t seed, bool own_means) {
  const baselines::Network network{task.data.layers, task.data.slopes};
  const auto layers = static_cast<double>(task.data.layers.size() - 1);
  auto prior = baselines::WeightPrior::centred(network, (own_means ? 0 : 1) + 1 / layers);
  if (own_means) prior.mean = prior_means(task, seed);
  return {network, task.data.inputs, task.data.targets, task.data.noise, std::move(prior)};
}

// Differential entropy of the mixture of N(f_k, noise^2) of one output.
double entropy(const VectorXd& f, double noise) {
  const double low = f.minCoeff() - 7 * noise, high = f.maxCoeff() + 7 * noise;
  const auto steps = whole_number(std::ceil((high - low) / (0.25 * noise)), 1,
                                  10'000'000);  // the trapezium rule is exact to rounding there
  const double step = (high - low) / steps,
               scale = 1 / (noise * std::sqrt(2 * std::numbers::pi) * static_cast<double>(f.size()));
  double sum = 0;
  for (int i = 0; i <= steps; ++i) {
    const double density = scale * (-0.5 * ((f.array() - (low + i * step)) / noise).square()).exp().sum();
    if (density > 0) sum -= step * density * std::log(density);
  }
  return sum;
}

// Quantiles of the draws of one output: the distance of other predictives is measured with them.
Json quantiles(const VectorXd& f) {
  constexpr Eigen::Index kQuantiles = 40;
  VectorXd sorted = f;
  std::ranges::sort(sorted);
  Json list = Json::array();
  for (Eigen::Index k = 0; k < kQuantiles; ++k)
    list.push_back(json_number(sorted((2 * k + 1) * f.size() / (2 * kQuantiles))));
  return list;
}

// The worst over the network's output at some inputs: weights can be exchanged without changing it.
ChainWorth worst_output(const baselines::Network& network, const std::vector<baselines::Chain>& chains,
                        const MatrixXd& features) {
  std::vector<std::vector<double>> draws(static_cast<std::size_t>(features.rows()));  // draws of the output, by point
  for (const auto& chain : chains)
    for (const VectorXd& w : chain.samples) {
      const VectorXd f = network.outputs(w, features).col(0);
      for (std::size_t i = 0; i < draws.size(); ++i) draws[i].push_back(f(static_cast<Eigen::Index>(i)));
    }
  ChainWorth worst{1, INFINITY};
  for (const auto& of_point : draws) {
    const ChainWorth worth = worth_of(of_point, 2 * chains.size());
    worst.r_hat = std::max(worst.r_hat, worth.r_hat);
    worst.effective = std::min(worst.effective, worth.effective);
  }
  return worst;
}

}  // namespace

Fitted fit_hmc(const Task& task, std::uint64_t seed, const Effort& effort, bool own_means) {
  const baselines::Energy energy = posterior_of(task, seed, own_means);
  const baselines::Network& network = energy.network();
  const auto function = [&](const VectorXd& w, VectorXd& g) { return energy.gradient(w, g); };
  baselines::HmcOptions options{
      .warm_up = effort.hmc_warm_up, .samples = effort.hmc_samples, .longest = effort.hmc_longest};
  options.keep_every = std::max(1, effort.hmc_samples / 1000);
  std::vector<baselines::Chain> chains;
  double acceptance = 0, gradients = 0;
  for (int k = 0; k < effort.hmc_chains; ++k) {
    // Every chain from its own draw of the prior, brought near the data by a few steps of Adam.
    const std::uint64_t own = 1000 * seed + static_cast<std::uint64_t>(k);
    VectorXd start =
        energy.prior().mean +
        baselines::RandomNormal(own).vector(network.weights()).cwiseQuotient(energy.prior().precision.cwiseSqrt());
    baselines::minimise(energy, {.rate = 0.02}, 200, start);
    chains.push_back(baselines::hmc_chain(function, start, options, own + 500));
    acceptance += chains.back().acceptance / effort.hmc_chains;
    gradients += static_cast<double>(chains.back().gradients);
  }
  std::vector<VectorXd> draws;
  const std::size_t kept = chains[0].samples.size(), each = std::min(kept, kMixture / chains.size());
  for (const auto& chain : chains)
    for (std::size_t i = 0; i < each; ++i) draws.push_back(chain.samples[(i + 1) * kept / each - 1]);
  Fitted fitted;
  fitted.predict = [network, draws, noise = task.data.noise](const MatrixXd& features) {
    std::vector<MatrixXd> means, none, noises;
    for (const VectorXd& w : draws) {
      means.push_back(network.outputs(w, features));
      none.push_back(MatrixXd::Zero(means.back().rows(), means.back().cols()));
      noises.push_back(MatrixXd::Constant(means.back().rows(), means.back().cols(), noise * noise));
    }
    return Prediction::mix(std::move(means), none, noises);
  };
  const std::vector<double> far = task.outside(kExtrapolationPoints), near = task.inside(10);
  std::vector<double> both = far;
  both.insert(both.end(), near.begin(), near.end());
  const ChainWorth trust = worst_output(network, chains, task.features(both));
  MatrixXd f(static_cast<Eigen::Index>(draws.size()), kExtrapolationPoints);
  const MatrixXd features = task.features(far);
  for (std::size_t k = 0; k < draws.size(); ++k)
    f.row(static_cast<Eigen::Index>(k)) = network.outputs(draws[k], features).col(0).transpose();
  Json entropies = Json::array(), functions = Json::array();
  for (Eigen::Index i = 0; i < f.cols(); ++i) {
    entropies.push_back(json_number(entropy(f.col(i), task.data.noise)));
    functions.push_back(quantiles(f.col(i)));
  }
  fitted.more = {{"r_hat", json_number(trust.r_hat)},
                 {"effective_samples", json_number(trust.effective)},
                 {"acceptance", json_number(acceptance)},
                 {"gradients", gradients},
                 {"entropy", entropies},
                 {"function", functions}};
  return fitted;
}

}  // namespace dma::reproduce
