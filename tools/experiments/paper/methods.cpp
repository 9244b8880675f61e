#include "tools/experiments/paper/methods.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/support/dense.h"
#include "engine/support/text.h"
#include "tools/experiments/paper/scores.h"

namespace dma::reproduce {

namespace {

using baselines::DiagonalGaussian;
using baselines::Energy;
using baselines::Network;
using baselines::WeightPrior;
using Eigen::MatrixXd;
using Eigen::VectorXd;

Energy energy_of(const Task& task, WeightPrior prior) {
  return {{task.data.layers, task.data.slopes}, task.data.inputs, task.data.targets, task.data.noise, std::move(prior)};
}

Prediction gaussian(MatrixXd mean, const MatrixXd& variance, double noise) {
  const MatrixXd noise_variance = MatrixXd::Constant(mean.rows(), mean.cols(), noise * noise);
  return Prediction::mix({std::move(mean)}, {variance}, {noise_variance});
}

// Mean and variance of the network's output over draws of its weights, as the paper scores Laplace and IVON.
auto moments(const Task& task, const DiagonalGaussian& q, int count, std::uint64_t seed) {
  return [=, network = Network{task.data.layers, task.data.slopes}, noise = task.data.noise](const MatrixXd& features) {
    const std::vector<VectorXd> draws = q.sample(count, seed);
    MatrixXd mean = network.outputs(draws[0], features), squares = MatrixXd::Zero(mean.rows(), mean.cols());
    for (std::size_t k = 1; k < draws.size(); ++k) {
      const MatrixXd f = network.outputs(draws[k], features), off = f - mean;
      mean += off / static_cast<double>(k + 1);
      squares += off.cwiseProduct(f - mean);
    }
    return gaussian(mean, squares / static_cast<double>(draws.size()), noise);
  };
}

// All optimisers start at the prior means that the library's network of the same seed draws, and see all rows at once
// unless said otherwise (the paper: "no mini-batching"). Returns the weights after the epochs.
VectorXd by_adam(const Energy& energy, const Task& task, std::uint64_t seed, const baselines::AdamOptions& options,
                 int epochs, int batch_rows, Fitted& fitted) {
  VectorXd weights = prior_means(task, seed);
  baselines::minimise(energy, options, epochs, weights, batch_rows, [&](int, const VectorXd& w) {
    fitted.curve.push_back(energy.mean_nll(w));
    return true;
  });
  return weights;
}

// Adam, or AdamW if it has a weight decay; the likelihood alone. The name is adam-0.1, adamw-0.1-1 or
// adam-0.01-batches-20.
Method adam_method(double rate, double decay = 0, int batch_rows = 0) {
  std::string name = decay > 0 ? fmt::format("adamw-{}-{}", rate, decay) : fmt::format("adam-{}", rate),
              title = decay > 0 ? fmt::format("AdamW {}, decay {}", rate, decay) : fmt::format("Adam {}", rate);
  if (batch_rows > 0) {
    name += fmt::format("-batches-{}", batch_rows);
    title += fmt::format(", mini-batches of {}", batch_rows);
  }
  return {name, title, [=](const Task& task, std::uint64_t seed, const Effort&) {
            const Energy energy = likelihood_of(task);
            Fitted fitted;
            const VectorXd weights = by_adam(energy, task, seed, {.rate = rate, .weight_decay = decay},
                                             task.optimiser_epochs, batch_rows, fitted);
            fitted.finite = weights.allFinite();
            fitted.predict = [weights, network = energy.network(), noise = task.data.noise](const MatrixXd& features) {
              const MatrixXd f = network.outputs(weights, features);
              return gaussian(f, MatrixXd::Zero(f.rows(), f.cols()), noise);
            };
            return fitted;
          }};
}

Method ivon_method(std::string name, std::string title, const baselines::IvonOptions& options) {
  return {std::move(name), std::move(title), [=](const Task& task, std::uint64_t seed, const Effort& effort) {
            const Energy energy = likelihood_of(task);
            Fitted fitted;
            const auto state = baselines::ivon(energy, options, effort.ivon_epochs, prior_means(task, seed), seed,
                                               [&](int, const baselines::IvonState& s) {
                                                 fitted.curve.push_back(energy.mean_nll(s.mean));
                                                 return true;
                                               });
            fitted.finite = state.finite && std::isfinite(energy.mean_nll(state.mean));
            const DiagonalGaussian q{state.mean, state.sd(static_cast<double>(energy.rows()), options.damping)};
            fitted.predict = moments(task, q, effort.posterior_samples, seed);
            return fitted;
          }};
}

// MAP by Adam (0.1, 200 epochs) with the prior N(0, scale / fan_in), and the exact diagonal of the Hessian there. The
// paper's scale is 2; none: that of the prior the data come from.
Method laplace_method(std::string name, std::string title, std::optional<double> scale) {
  return {std::move(name), std::move(title), [=](const Task& task, std::uint64_t seed, const Effort& effort) {
            const double own = scale.value_or(1 + 1 / static_cast<double>(task.data.layers.size() - 1));
            const Energy energy = energy_of(task, WeightPrior::centred({task.data.layers, task.data.slopes}, own));
            Fitted fitted;
            const VectorXd weights = by_adam(energy, task, seed, {.rate = 0.1}, 200, 0, fitted);
            fitted.predict = moments(task, baselines::laplace(energy, weights), effort.posterior_samples, seed);
            return fitted;
          }};
}

// A network whose slopes are all 1, its product of weights taken as one Gaussian vector: Bayesian linear regression on
// the features, exact.
Fitted fit_linear(const Task& task, std::uint64_t, const Effort&) {
  const auto layers = static_cast<double>(task.data.layers.size() - 1);
  // A product of L matrices of independent entries of variance (1 + 1/L) / fan_in has entries of variance (1 + 1/L)^L /
  // inputs.
  const double variance = std::pow(1 + 1 / layers, layers) / static_cast<double>(task.data.layers.front());
  const double noise = task.data.noise, noise2 = noise * noise;
  const MatrixXd& x = task.data.inputs;
  MatrixXd factor = transposed_product(x, x) / noise2, weights = transposed_product(x, task.data.targets) / noise2;
  factor.diagonal().array() += 1 / variance;
  factorise_lower(factor);
  solve_lower(factor, weights);
  solve_lower_transposed(factor, weights);
  return {.predict = [factor, weights, noise](const MatrixXd& features) {
    MatrixXd solved = features.transpose();
    solve_lower(factor, solved);
    return gaussian(product_of(features, weights), squared_columns(solved).replicate(1, weights.cols()), noise);
  }};
}

Method own_network(std::string name, std::string title, NetworkChange change) {
  return {std::move(name), std::move(title),
          [change](const Task& t, std::uint64_t s, const Effort& e) { return fit_network(t, s, e, change); }};
}

Method exact_method(std::string name, std::string title, bool own_means) {
  return {std::move(name), std::move(title),
          [=](const Task& t, std::uint64_t s, const Effort& e) { return fit_hmc(t, s, e, own_means); }};
}

}  // namespace

Energy likelihood_of(const Task& task) {
  return energy_of(task, WeightPrior::none({task.data.layers, task.data.slopes}));
}

std::string Effort::text() const {
  return fmt::format("hmc {}x({}+{})x{}, {} draws, ivon {}, default {}", hmc_chains, hmc_warm_up, hmc_samples,
                     hmc_longest, posterior_samples, ivon_epochs, epochs);
}

const std::vector<Method>& methods() {
  static const std::vector<Method> all = {
      own_network("dma", "DMA", {}),
      own_network("default", "default", {.by_default = true}),
      own_network("dma-tolerance-0.03", "DMA, tolerance 0.03", {.tolerance = 0.03}),
      own_network("dma-tolerance-0.01", "DMA, tolerance 0.01", {.tolerance = 0.01}),
      own_network("dma-prior", "DMA, the data's prior", {.data_prior = true}),
      // As many starts as the default mixes on a table of this size.
      own_network("joint", "joint, the data's prior", {.method = "joint", .data_prior = true, .starts = 4}),
      own_network("joint-one", "joint, the data's prior, one start", {.method = "joint", .data_prior = true}),
      own_network("joint-linear", "joint with slopes 1, the data's prior",
                  {.method = "joint", .data_prior = true, .linear = true}),
      own_network("ep", "EP everywhere", {.method = "ep"}),
      own_network("ep-relu", "EP on leaky ReLU, DMA elsewhere", {.kind_methods = {{"leaky_relu", "ep"}}}),
      own_network("ep-product", "EP on product, DMA elsewhere", {.kind_methods = {{"product", "ep"}}}),
      adam_method(1e-3),
      adam_method(1e-2),
      adam_method(1e-1),
      adam_method(1),
      adam_method(0.01, 0, 20),
      adam_method(0.1, 0.01),
      adam_method(0.1, 0.1),
      adam_method(0.1, 1),
      adam_method(0.1, 10),
      adam_method(0.01, 1),
      adam_method(1, 1),
      ivon_method("ivon", "IVON", {.rate = 0.6, .second_decay = 0.9999, .damping = 0.1}),
      ivon_method("ivon-tuned", "IVON, tuned on other seeds", kTunedIvon),
      laplace_method("laplace", "diagonal Laplace", 2),
      laplace_method("laplace-prior", "diagonal Laplace, the data's prior", {}),
      {"linear", "linear in the features", &fit_linear},
      exact_method("exact", "exact (HMC)", false),
      exact_method("exact-own", "exact (HMC), DMA's prior means", true),
  };
  return all;
}

const Method& method(const std::string& name) {
  const auto found = std::ranges::find(methods(), name, &Method::name);
  if (found != methods().end()) return *found;
  std::vector<std::string> known;
  for (const Method& m : methods()) known.push_back(m.name);
  fail("there is no method '{}'{}", name, suggestion(name, known));
}

std::string curve_title(const std::string& name) {
  const bool evidence = name == "default" || name.starts_with("joint");
  return method(name).title + (evidence ? " (-log evidence per row)" : "");
}

const std::vector<std::string>& own_methods() {
  static const std::vector<std::string> names = {"dma", "default"};
  return names;
}

std::string fit_name(const std::string& task, const std::string& method, std::uint64_t seed) {
  return fmt::format("{}.{}.{}", task, method, seed);
}

Unit fit_unit(const std::string& task, const std::string& name, std::uint64_t seed, const Effort& effort, bool curves) {
  return {fit_name(task, name, seed), fmt::format("{} {}", effort.text(), curves ? "with curves" : "scores"), [=] {
            const Task own = make_task(task, seed);
            const Fitted fitted = method(name).fit(own, seed, effort);
            Json json = {{"finite", fitted.finite}, {"epochs", fitted.curve.size()}};
            if (fitted.finite) json.update(score(own, fitted.predict, curves));
            json.update(fitted.more);
            if (curves) {
              json["curve"] = Json::array();
              for (const double nll : fitted.curve) json["curve"].push_back(json_number(nll));
            }
            return json;
          }};
}

}  // namespace dma::reproduce
