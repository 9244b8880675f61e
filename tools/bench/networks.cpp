#include "tools/bench/network_case.h"

#include <fmt/format.h>

#include <boost/random/mersenne_twister.hpp>
#include <boost/random/normal_distribution.hpp>
#include <cmath>

#include "engine/support/error.h"
#include "models/network/bnn.h"
#include "models/network/message_network.h"
#include "tools/dma/io/paper_tasks.h"

namespace dma::bench {

namespace {

constexpr double kTimingNoise = 0.5;

// The time of an epoch does not depend on the data.
validation::PaperTask random_task(std::vector<std::size_t> layers, Eigen::Index rows) {
  boost::random::mt19937_64 random(1);
  boost::random::normal_distribution<double> normal;
  validation::PaperTask task{std::move(layers), {}, kTimingNoise, {}, {}, {}, {}};
  task.slopes.assign(task.layers.size() - 2, 0.1);
  const double scale = 1 / std::sqrt(static_cast<double>(task.layers.front()));
  task.inputs.resize(rows, static_cast<Eigen::Index>(task.layers.front()));
  task.targets.resize(rows, static_cast<Eigen::Index>(task.layers.back()));
  for (double& x : task.inputs.reshaped()) x = scale * normal(random);
  for (double& y : task.targets.reshaped()) y = normal(random);
  return task;
}

std::unique_ptr<Bnn> make_network(const NetworkCase& c, bool fuse) {
  auto net = std::make_unique<Bnn>(BnnOptions{.layers = c.task.layers,
                                              .slopes = c.task.slopes,
                                              .noise = c.task.noise,
                                              .bias = false,
                                              .standardise = false,
                                              .method = "dma",
                                              .seed = 1,
                                              .shuffle = false,
                                              .fuse = fuse});
  net->fit(c.task.inputs, c.task.targets, {.batches = c.batches, .epochs = 1, .tolerance = 0});
  return net;
}

}  // namespace

std::vector<double> row_by_row(const Eigen::MatrixXd& m) {
  const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> by_row = m;
  return {by_row.data(), by_row.data() + by_row.size()};
}

std::size_t NetworkCase::weights() const {
  std::size_t count = 0;
  for (std::size_t l = 0; l + 1 < task.layers.size(); ++l) count += task.layers[l] * task.layers[l + 1];
  return count;
}

std::vector<std::string> network_names() {
  return {"8-6-5-1", "6-6-12-48-24-4", "13-50-1", "784-100-10", "1024-1024-1"};
}

NetworkCase network_case(const std::string& name) {
  if (name == "8-6-5-1") return {name, validation::small_task(1), 10};
  if (name == "6-6-12-48-24-4") return {name, validation::large_task(1), 100};
  if (name == "13-50-1") return {name, random_task({13, 50, 1}, 455), 10};
  if (name == "784-100-10") return {name, random_task({784, 100, 10}, 1000), 20};
  if (name == "1024-1024-1") return {name, random_task({1024, 1024, 1}, 60), 4};
  fail("no network '{}' to time; known: {}", name, fmt::join(network_names(), ", "));
}

NetworkCase square_case(std::size_t width) {
  return {fmt::format("{0}-{0}-1", width), random_task({width, width, 1}, 2 * kRowsOfSizes), 2};
}

NetworkEpochs::NetworkEpochs(const NetworkCase& c)
    : network_(c),
      inputs_(row_by_row(c.task.inputs)),
      targets_(row_by_row(c.task.targets)),
      energy_({c.task.layers, c.task.slopes}, c.task.inputs, c.task.targets, c.task.noise,
              baselines::WeightPrior::centred({c.task.layers, c.task.slopes}, 1)) {
  boost::random::mt19937_64 random(1);
  boost::random::normal_distribution<double> normal;
  adam_weights_.resize(static_cast<Eigen::Index>(c.weights()));
  for (Eigen::Index i = 0; i < adam_weights_.size(); ++i)
    adam_weights_[i] = normal(random) / std::sqrt(energy_.prior().precision[i]);
}

Bnn& NetworkEpochs::learned(Way way) {
  auto& net = way == Way::fused ? fused_ : unfused_;
  if (net == nullptr) net = make_network(network_, way == Way::fused);
  return *net;
}

// Further epochs of the same learner, without the copies of the data that fit() makes. The first run of a way makes it
// ready and is its first epoch.
void NetworkEpochs::run(Way way) {
  if (way == Way::adam) {
    const auto rows = static_cast<Eigen::Index>(network_.rows() / network_.batches);
    baselines::minimise(energy_, {}, 1, adam_weights_, rows);
    (void)energy_.mean_nll(adam_weights_);
  } else if (way == Way::hand) {
    if (hand_ == nullptr) {
      std::vector<LayerPrior> priors;
      for (std::size_t l = 0; l + 1 < network_.task.layers.size(); ++l) priors.push_back(learned(Way::fused).prior(l));
      hand_ =
          std::make_unique<HandNetwork>(network_.task.layers, network_.task.slopes, priors,
                                        network_.task.noise * network_.task.noise, network_.batches, network_.rows());
    }
    hand_->epoch(inputs_, targets_);
    (void)hand_->log_likelihood(inputs_, targets_);
  } else {
    const bool is_first = (way == Way::fused ? fused_ : unfused_) == nullptr;
    Bnn& net = learned(way);
    if (is_first) return;
    Learner& learner = net.by_messages()->learner(0);
    const Data data{{net.graph(0).find_variable("x"), inputs_}, {net.graph(0).find_variable("y"), targets_}};
    learner.set_stopping({.epochs = learner.options().epochs + 1, .tolerance = 0});
    learner.fit(data);
  }
}

double NetworkEpochs::difference(Way way) const {
  const Bnn& net = way == Way::fused ? *fused_ : *unfused_;
  double largest = 0;
  for (std::size_t l = 0; l < hand_->layers().size(); ++l) {
    const auto weights = net.weights(l);
    for (std::size_t k = 0; k < weights.size(); ++k)
      largest = std::max(largest, std::abs(weights[k].rho * hand_->layers()[l].variance[k] - 1));
  }
  return largest;
}

}  // namespace dma::bench
