// Every method of the comparison behind one interface: a task and a seed in, a predictive out. Nobody else knows how a
// method is called; a new one is one line in the table of methods.cpp.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "models/network/network_graph.h"
#include "tools/experiments/baselines/optimisers.h"
#include "tools/experiments/paper/task.h"
#include "tools/experiments/paper/units.h"

namespace dma::reproduce {

struct Fitted {
  std::function<Prediction(const Eigen::MatrixXd& features)> predict;
  // Mean negative log density of the training targets after each epoch; of joint learning minus the log evidence per
  // row.
  std::vector<double> curve = {};
  bool finite = true;          // false: it predicts nothing
  Json more = Json::object();  // facts that only this method has: refused messages, R-hat, ...
};

// Limits on the work of the slow ones.
struct Effort {
  int hmc_chains = 4, hmc_warm_up = 1500, hmc_samples = 4000, hmc_longest = 96;
  int posterior_samples = 1000;  // for Laplace and IVON
  int ivon_epochs = 500;
  int epochs = 200;  // limit for the default method
  std::string text() const;
};

struct Method {
  std::string name;   // in file names and tables of units
  std::string title;  // for people
  std::function<Fitted(const Task&, std::uint64_t seed, const Effort&)> fit;
};

// All of them; by name, an Error if there is none.
const std::vector<Method>& methods();
const Method& method(const std::string& name);

// In a picture of training curves: joint learning reports its evidence instead of the training NLL.
std::string curve_title(const std::string& name);

// dma, and what `dma fit` does by default.
const std::vector<std::string>& own_methods();

// The unit that fits `method` to `task` of this seed and scores it; with `curves` the training curve and a picture are
// kept too.
Unit fit_unit(const std::string& task, const std::string& method, std::uint64_t seed, const Effort& effort,
              bool curves);
std::string fit_name(const std::string& task, const std::string& method, std::uint64_t seed);

// Differences of a fit by the library's own network from the paper's DMA.
struct NetworkChange {
  std::string method = "dma";
  std::map<std::string, std::string> kind_methods = {};
  // The settings of models/network/bnn.h instead; only what the task states (widths, slopes, noise) is taken
  // from it.
  bool by_default = false;
  std::optional<double> tolerance = {};  // tolerance that ends learning, instead of the paper's 0.1
  // The prior the data come from, N(0, (1 + 1/L) / fan-in) with L layers of weights, instead of one around random
  // means.
  bool data_prior = false;
  bool linear = false;                      // slopes 1: a network that is linear in the features
  double smoothing = BnnShape{}.smoothing;  // for joint
  // Fits from different draws, mixed with equal weights; for joint, whose fit is the neighbourhood of one mode.
  std::size_t starts = 1;
};
Fitted fit_network(const Task& task, std::uint64_t seed, const Effort& effort, const NetworkChange& change);
// The network itself, for its weights.
Bnn fitted_network(const Task& task, std::uint64_t seed, const Effort& effort, const NetworkChange& change,
                   FitReport& report);
// The prior means that the paper's network of this seed draws, layer after layer: every optimiser starts there.
Eigen::VectorXd prior_means(const Task& task, std::uint64_t seed);

// The exact posterior by Hamiltonian Monte Carlo under the prior that the data come from, N(0, (1 + 1/layers) /
// fan_in), or with `own_means` under the prior that DMA is given: random means and variance 1 / (layers fan_in).
Fitted fit_hmc(const Task& task, std::uint64_t seed, const Effort& effort, bool own_means);

// The task as the baselines see it, without a prior.
baselines::Energy likelihood_of(const Task& task);

// The best of the paper's grid of 160 by mean NLL outside the data on seeds 10001 to 10040, where nothing is scored:
// tuned by the very score it is judged by.
inline constexpr baselines::IvonOptions kTunedIvon{.rate = 0.03, .second_decay = 0.9, .damping = 0.1};

}  // namespace dma::reproduce
