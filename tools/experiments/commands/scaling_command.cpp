// dma-lab scaling: what several workers cost in quality, and what an epoch on many machines would take
// (tools/experiments/results/SCALING.md).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "engine/support/parallel.h"
#include "models/network/bnn.h"
#include "tools/dma/io/paper_tasks.h"
#include "tools/experiments/commands/commands.h"
#include "tools/experiments/paper/thread_seconds.h"

namespace dma {

namespace {

BnnOptions network_of(const validation::PaperTask& task, std::string method = "dma") {
  return {.layers = task.layers,
          .slopes = task.slopes,
          .noise = task.noise,
          .bias = false,
          .standardise = false,
          .method = std::move(method),
          .seed = 1};
}

// Root mean squared distance of the predicted mean from the noise-free truth, at the learned rows.
double distance_to_truth(const Bnn& net, const validation::PaperTask& task) {
  const Prediction p = net.predict(task.inputs);
  double sum = 0;
  for (Eigen::Index n = 0; n < p.mean.rows(); ++n)
    sum += (p.mean.row(n) - task.truth(task.raw_inputs(n))).squaredNorm();
  return std::sqrt(sum / static_cast<double>(p.mean.size()));
}

void compare_quality() {
  struct Setting {
    const char* name;
    validation::PaperTask task;
    std::size_t batches;
    int epochs;
    std::vector<std::string> methods;
  };
  const Setting settings[] = {
      {"8-6-5-1, 200 rows", validation::small_task(2), 40, 40, {"dma", "hybrid", "ep", "linearised"}},
      {"6-6-12-48-24-4, 1500 rows", validation::large_task(1), 96, 12, {"dma", "hybrid"}}};
  fmt::print("| network | method | workers | epochs | log-likelihood | off the truth |\n|---|---|---|---|---|---|\n");
  for (const Setting& setting : settings)
    for (const std::string& method : setting.methods)
      for (const std::size_t workers : {1u, 2u, 4u, 8u, 16u}) {
        const int epochs = method == "ep" ? setting.epochs / 4 : setting.epochs;  // two hundred times as slow
        Bnn net(network_of(setting.task, method));
        const FitReport report = net.fit(setting.task.inputs, setting.task.targets,
                                         {.batches = setting.batches,
                                          .epochs = epochs,
                                          .tolerance = 0,
                                          .workers = workers,
                                          .jobs = all_processors()});
        fmt::print("| {} | {} | {} | {} | {:.3f} | {:.3f} |\n", setting.name, method, workers, epochs,
                   report.members[0].epochs.back().log_likelihood, distance_to_truth(net, setting.task));
      }
}

// An epoch of W processes: each learns its fraction of the rows, and in each round two messages of all weights go out
// of every process and two come in: to each of the others a slice, and back.
void extrapolate() {
  const validation::PaperTask task = validation::large_task(1);
  double weights = 0;
  for (std::size_t l = 0; l + 1 < task.layers.size(); ++l)
    weights += static_cast<double>(task.layers[l] * task.layers[l + 1]);
  constexpr int kEpochs = 4;
  // The quickest of three runs: other programs only make it longer.
  double work = HUGE_VAL;
  for (int repeat = 0; repeat < 3; ++repeat) {
    const double start = thread_seconds();
    Bnn(network_of(task)).fit(task.inputs, task.targets, {.batches = 100, .epochs = kEpochs, .tolerance = 0});
    work = std::min(work, (thread_seconds() - start) / kEpochs / weights / static_cast<double>(task.inputs.rows()));
  }
  constexpr double kLatency = 3e-6, kBytesPerSecond = 5e9;  // message latency between machines; bandwidth per process
  fmt::print(
      "measured: {:.1f} ns per weight and row; assumed: {:.0f} us per message, {:.0f} GB/s per process\n\n"
      "| weights | rows | processes | epoch s | of perfect |\n|---|---|---|---|---|\n",
      1e9 * work, 1e6 * kLatency, 1e-9 * kBytesPerSecond);
  for (const auto& [p, n] : {std::pair{2e3, 1e6}, std::pair{1e5, 1e6}, std::pair{1e6, 1e8}})
    for (const double w : {8.0, 64.0, 512.0}) {
      const double rounds = std::ceil(20 * 512 / w), compute = work * p * n / w;
      const double messages = rounds * (2 * (w - 1) * kLatency + 32 * p * (w - 1) / w / kBytesPerSecond);
      fmt::print("| {:.0e} | {:.0e} | {} | {:.3g} | {:.0f} % |\n", p, n, w, compute + messages,
                 100 * compute / (compute + messages));
    }
}

}  // namespace

void add_scaling_command(Command app) {
  const auto extrapolates = std::make_shared<bool>(false);
  const Command command =
      app.add_subcommand("scaling", "Several workers beside one: what they cost in quality, method by method");
  command.add_flag("--extrapolate", *extrapolates,
                   "Instead: epochs of 8, 64 and 512 processes, from the work measured here");
  command.footer("Example:\n  dma-lab scaling");
  command.callback([extrapolates] { *extrapolates ? extrapolate() : compare_quality(); });
}

}  // namespace dma
