// One epoch of Bayesian neural networks, with the log-likelihood of all rows after it on both sides, next to plain loops.
#include <cmath>

#include "models/network/bnn.h"
#include "tools/bench/comparison.h"
#include "tools/bench/network_case.h"
#include "tools/bench/plain_network.h"
#include "tools/dma/io/paper_tasks.h"

namespace dma::bench {

namespace {

bool agree(const Bnn& net, const PlainNetwork& plain) {
  for (std::size_t l = 0; l < plain.layers().size(); ++l) {
    const auto weights = net.weights(l);
    for (std::size_t k = 0; k < weights.size(); ++k)
      if (!(std::abs(weights[k].rho / plain.layers()[l].rho[k] - 1) < 1e-6)) return false;
  }
  return true;
}

void epochs(benchmark::State& bench, Table& table, Row row, const validation::PaperTask& task, std::size_t batches) {
  const auto rows = static_cast<std::size_t>(task.inputs.rows());
  const std::vector<double> inputs = row_by_row(task.inputs), targets = row_by_row(task.targets);
  Bnn net({.layers = task.layers, .slopes = task.slopes, .noise = task.noise, .bias = false, .standardise = false, .method = "dma", .seed = 1, .shuffle = false});
  std::vector<LayerPrior> priors;
  for (std::size_t l = 0; l + 1 < task.layers.size(); ++l) priors.push_back(net.prior(l));
  PlainNetwork plain(task.layers, task.slopes, priors, task.noise * task.noise, batches, rows);
  double plain_likelihood = 0;
  const auto plain_epoch = [&] {
    plain.epoch(inputs, targets);
    plain_likelihood = plain.log_likelihood(inputs, targets);
  };
  net.fit(task.inputs, task.targets, {.batches = batches, .epochs = 1, .tolerance = 0});
  plain_epoch();
  if (!agree(net, plain)) return bench.SkipWithError("the engine and the plain loop disagree");
  // Further epochs of the same learner, without the copies of the data that fit() makes.
  Learner& learner = net.learner();
  const VariableId x = net.graph().find_variable("x"), y = net.graph().find_variable("y");
  const Data data{{x, inputs}, {y, targets}};
  const std::string memory = row.name + ", memory per edge slot";
  row.messages = static_cast<double>(learner.plan().messages_per_sweep() * rows);
  compare(
      bench, table, std::move(row),
      [&] {
        learner.set_stopping({.epochs = learner.options().epochs + 1, .tolerance = 0});
        learner.fit(data);
      },
      plain_epoch);
  table.set({.name = memory,
             .value = static_cast<double>(learner.plan().bytes()) / learner.plan()->slots,
             .bound = 48,
             .unit = "B"});
}

}  // namespace

void register_network(Table& table) {
  benchmark::RegisterBenchmark("network/8-6-5-1", [&](benchmark::State& s) {
    epochs(s, table, {.name = "epoch of 8-6-5-1, 200 rows", .bound = 1.5}, validation::small_task(1), 10);
  })->UseManualTime();
  benchmark::RegisterBenchmark("network/6-6-12-48-24-4", [&](benchmark::State& s) {
    epochs(s, table, {.name = "epoch of 6-6-12-48-24-4, 1500 rows", .bound = 1.5}, validation::large_task(1), 100);
  })->UseManualTime();
}

}  // namespace dma::bench
