#include "tools/bench/networks.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/random/mersenne_twister.hpp>
#include <boost/random/normal_distribution.hpp>
#include <cmath>
#include <map>
#include <memory>
#include <vector>

#include "engine/support/shuffle.h"
#include "engine/support/text.h"
#include "models/network/bnn.h"
#include "models/network/message_network.h"
#include "tools/bench/hand_network.h"
#include "tools/dma/io/paper_tasks.h"
#include "tools/experiments/baselines/optimisers.h"
#include "tools/experiments/paper/thread_seconds.h"

namespace dma::bench {

namespace {

struct NetworkCase {
  std::string name;
  validation::PaperTask task;
  std::size_t batches, weights = 0, rows = 0;

  NetworkCase(std::string own_name, validation::PaperTask own_task, std::size_t own_batches)
      : name(std::move(own_name)), task(std::move(own_task)), batches(own_batches) {
    for (std::size_t l = 0; l + 1 < task.layers.size(); ++l) weights += task.layers[l] * task.layers[l + 1];
    rows = static_cast<std::size_t>(task.inputs.rows());
  }
};

// The time of an epoch does not depend on the data.
validation::PaperTask random_task(std::vector<std::size_t> layers, Eigen::Index rows) {
  constexpr double kNoise = 0.5;
  boost::random::mt19937_64 random(1);
  boost::random::normal_distribution<double> normal;
  validation::PaperTask task{std::move(layers), {}, kNoise, {}, {}, {}, {}};
  task.slopes.assign(task.layers.size() - 2, 0.1);
  const double scale = 1 / std::sqrt(static_cast<double>(task.layers.front()));
  task.inputs.resize(rows, static_cast<Eigen::Index>(task.layers.front()));
  task.targets.resize(rows, static_cast<Eigen::Index>(task.layers.back()));
  for (double& x : task.inputs.reshaped()) x = scale * normal(random);
  for (double& y : task.targets.reshaped()) y = normal(random);
  return task;
}

constexpr const char* kNetworks[] = {"8-6-5-1", "6-6-12-48-24-4", "13-50-1", "784-100-10", "1024-1024-1"};

// The first two are of the paper.
NetworkCase network_case(const std::string& name) {
  if (name == kNetworks[0]) return {name, validation::small_task(1), 10};
  if (name == kNetworks[1]) return {name, validation::large_task(1), 100};
  if (name == kNetworks[2]) return {name, random_task({13, 50, 1}, 455), 10};
  if (name == kNetworks[3]) return {name, random_task({784, 100, 10}, 1000), 20};
  if (name == kNetworks[4]) return {name, random_task({1024, 1024, 1}, 60), 4};
  fail("no network '{}' to time; known: {}", name, fmt::join(kNetworks, ", "));
}

std::vector<double> row_by_row(const Eigen::MatrixXd& m) {
  const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> by_row = m;
  return {by_row.data(), by_row.data() + by_row.size()};
}

// An epoch by each of the ways that are compared: the engine with a fused and with an unfused plan, the loop written by
// hand, and Adam. Every epoch ends with the mean log-likelihood of all rows.
class Epochs {
 public:
  explicit Epochs(const NetworkCase& network)
      : network_(network),
        inputs_(row_by_row(network.task.inputs)),
        targets_(row_by_row(network.task.targets)),
        energy_({network.task.layers, network.task.slopes}, network.task.inputs, network.task.targets,
                network.task.noise, baselines::WeightPrior::centred({network.task.layers, network.task.slopes}, 1)) {
    boost::random::mt19937_64 random(1);
    boost::random::normal_distribution<double> normal;
    adam_weights_ = energy_.prior().precision.cwiseSqrt().cwiseInverse();
    for (double& weight : adam_weights_) weight *= normal(random);
  }

  // Further epochs of the same learner, without the copies of the data that fit() makes. The first run of a way makes
  // it ready and is its first epoch.
  void run(const std::string& way) {
    if (way == "adam") {
      const auto rows = static_cast<Eigen::Index>(network_.rows / network_.batches);
      baselines::minimise(energy_, {}, 1, adam_weights_, rows);
      (void)energy_.mean_nll(adam_weights_);
    } else if (way == "hand") {
      by_hand().epoch(inputs_, targets_);
      (void)by_hand().log_likelihood(inputs_, targets_);
    } else {
      const bool is_first = !nets_.contains(way);
      Bnn& net = learned(way);
      if (is_first) return;
      Learner& learner = net.by_messages()->learner(0);
      const Data data{{net.graph(0).find_variable("x"), inputs_}, {net.graph(0).find_variable("y"), targets_}};
      learner.set_stopping({.epochs = learner.options().epochs + 1, .tolerance = 0});
      learner.fit(data);
    }
  }
  // The least of some epochs, in ns per weight and row: what other programs take from the caches only makes them
  // longer.
  double least_time(const std::string& way) {
    constexpr double kSeconds = 1;
    run(way);
    double least = HUGE_VAL;
    const double start = thread_seconds();
    for (int turn = 0; turn < 3 || thread_seconds() - start < kSeconds; ++turn) least = std::min(least, time(way));
    return least;
  }
  double time(const std::string& way) {
    const double before = thread_seconds();
    run(way);
    return 1e9 * (thread_seconds() - before) / static_cast<double>(network_.weights * network_.rows);
  }
  // The largest relative difference of a precision of a weight between the fused plan and the loop by hand, after as
  // many epochs of both.
  double difference() {
    double largest = 0;
    for (std::size_t l = 0; l < by_hand().layers().size(); ++l) {
      const auto weights = learned("fused").weights(l);
      for (std::size_t k = 0; k < weights.size(); ++k)
        largest = std::max(largest, std::abs(weights[k].rho * by_hand().layers()[l].variance[k] - 1));
    }
    return largest;
  }

 private:
  Bnn& learned(const std::string& way) {
    std::unique_ptr<Bnn>& net = nets_[way];
    if (net != nullptr) return *net;
    net = std::make_unique<Bnn>(BnnOptions{.layers = network_.task.layers,
                                           .slopes = network_.task.slopes,
                                           .noise = network_.task.noise,
                                           .bias = false,
                                           .standardise = false,
                                           .method = "dma",
                                           .seed = 1,
                                           .shuffle = false,
                                           .fuse = way != "unfused"});
    net->fit(network_.task.inputs, network_.task.targets, {.batches = network_.batches, .epochs = 1, .tolerance = 0});
    return *net;
  }
  HandNetwork& by_hand() {
    if (hand_ != nullptr) return *hand_;
    const auto& [layers, slopes, noise, inputs, targets, truth, features, raw] = network_.task;
    std::vector<LayerPrior> priors;
    for (std::size_t l = 0; l + 1 < layers.size(); ++l) priors.push_back(learned("fused").prior(l));
    hand_ = std::make_unique<HandNetwork>(layers, slopes, priors, noise * noise, network_.batches, network_.rows);
    return *hand_;
  }

  const NetworkCase& network_;
  std::vector<double> inputs_, targets_;  // row by row
  std::map<std::string, std::unique_ptr<Bnn>> nets_;
  std::unique_ptr<HandNetwork> hand_;
  baselines::Energy energy_;
  Eigen::VectorXd adam_weights_;
};

double middle_ratio(const std::vector<double>& above, const std::vector<double>& below) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < above.size(); ++i) ratios.push_back(above[i] / below[i]);
  return median(ratios);
}

}  // namespace

std::string networks() {
  constexpr double kSeconds = 4;  // per network, and three epochs of every way at least
  std::string out = fmt::format(
      "ns for each weight and row of an epoch, one thread\n{:<16}{:>9}{:>6}{:>9}{:>9}{:>9}{:>9}{:>12}{:>15}{:>12}{:>12}"
      "\n",
      "network", "weights", "rows", "fused", "unfused", "by hand", "Adam", "fused/hand", "unfused/fused", "fused/Adam",
      "difference");
  for (const std::string name : kNetworks) {
    const NetworkCase network = network_case(name);
    Epochs epochs(network);
    const std::string ways[] = {"fused", "hand", "unfused", "adam"};
    for (const std::string& way : ways) epochs.run(way);
    const double difference = epochs.difference();
    std::map<std::string, std::vector<double>> times;
    const double start = thread_seconds();
    for (int turn = 0; turn < 3 || thread_seconds() - start < kSeconds; ++turn)
      for (const std::string& way : ways) times[way].push_back(epochs.time(way));
    out += fmt::format("{:<16}{:>9}{:>6}{:>9.2f}{:>9.2f}{:>9.2f}{:>9.2f}{:>12.2f}{:>15.2f}{:>12.2f}{:>12.1e}\n", name,
                       network.weights, network.rows, median(times["fused"]), median(times["unfused"]),
                       median(times["hand"]), median(times["adam"]), middle_ratio(times["fused"], times["hand"]),
                       middle_ratio(times["unfused"], times["fused"]), middle_ratio(times["fused"], times["adam"]),
                       difference);
  }
  return out;
}

std::string sizes() {
  constexpr int kRows = 100;  // in each of two mini-batches
  std::string out =
      fmt::format("ns for each weight and row, mini-batches of {} rows\n{:<16}{:>9}{:>12}{:>9}{:>9}{:>13}\n", kRows,
                  "network", "weights", "moments", "fused", "by hand", "to smallest");
  double smallest = 0;
  for (const std::size_t width : {44u, 140u, 447u, 1414u}) {
    const NetworkCase network(fmt::format("{0}-{0}-1", width), random_task({width, width, 1}, 2 * kRows), 2);
    Epochs epochs(network);
    const double fused = epochs.least_time("fused"), hand = epochs.least_time("hand");
    if (smallest == 0) smallest = fused;
    out += fmt::format("{:<16}{:>9}{:>9} kB{:>9.2f}{:>9.2f}{:>13.2f}\n", network.name, network.weights,
                       network.weights / 64, fused, hand, fused / smallest);
  }
  return out;
}

void run_epochs(const std::string& name, int count, const std::string& way) {
  const NetworkCase network = network_case(name);
  Epochs epochs(network);
  for (int i = 0; i < count; ++i) epochs.run(way);
}

}  // namespace dma::bench
