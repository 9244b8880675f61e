// dma_scaling: what several workers cost in quality and bring in time, next to one, and what that makes of many
// machines (tools/experiments/results/SCALING.md).
//
//   build/dma_scaling                  quality of 1, 2, 4, 8 and 16 workers, method by method
//   build/dma_scaling --parts          quality where 1, 4, 16 or all mini-batches share a stored message, and its
//   memory build/dma_scaling --time           seconds of 1 and 2 workers, of members and of joint learning, on this
//   machine build/dma_scaling --extrapolate    epochs of 8, 64 and 512 processes, from the work and the messages
//   measured here
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/support/error.h"
#include "engine/support/parallel.h"
#include "models/network/bnn.h"
#include "tools/dma/io/paper_tasks.h"

namespace {

using namespace dma;

double processor_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

struct Cost {
  double wall = 0, processor = 0;
};

// Of the quickest of several runs: what else the machine does can only add to it.
Cost cost_of(const std::function<void()>& work) {
  Cost best{1e300, 1e300};
  for (int repeat = 0; repeat < 3; ++repeat) {
    const double before = processor_seconds();
    const auto start = std::chrono::steady_clock::now();
    work();
    best.wall = std::min(best.wall, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    best.processor = std::min(best.processor, processor_seconds() - before);
  }
  return best;
}

BnnOptions network_of(const validation::PaperTask& task, std::string method) {
  return {.layers = task.layers, .slopes = task.slopes, .noise = task.noise, .bias = false, .standardise = false,
          .method = std::move(method), .seed = 1};
}

// Root mean squared distance of the predicted mean from the noise-free truth, at the learned rows.
double distance_to_truth(const Bnn& net, const validation::PaperTask& task) {
  const Prediction p = net.predict(task.inputs);
  double sum = 0;
  for (Eigen::Index n = 0; n < p.mean.rows(); ++n)
    sum += (p.mean.row(n) - task.truth(task.raw_inputs(n))).squaredNorm();
  return std::sqrt(sum / static_cast<double>(p.mean.size()));
}

struct Setting {
  const char* name;
  validation::PaperTask task;
  std::size_t batches;
  int epochs;
  std::vector<std::string> methods;
};

void compare_quality() {
  const Setting settings[] = {
      {"8-6-5-1, 200 rows", validation::small_task(2), 40, 40, {"dma", "hybrid", "ep", "linearised"}},
      {"6-6-12-48-24-4, 1500 rows", validation::large_task(1), 96, 12, {"dma", "hybrid"}}};
  fmt::print("| network | method | workers | rounds | log-likelihood after 2 | 10 | last epoch | off the truth |\n"
             "|---|---|---|---|---|---|---|---|\n");
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
        const auto& all = report.members[0].epochs;
        fmt::print("| {} | {} | {} | {} | {:.3f} | {:.3f} | {:.3f} | {:.3f} |\n", setting.name, method, workers,
                   (setting.batches + workers - 1) / workers, all[1].log_likelihood,
                   all[std::min<std::size_t>(all.size(), 10) - 1].log_likelihood, all.back().log_likelihood,
                   distance_to_truth(net, setting.task));
      }
}

// As many mini-batches whatever they share: only what is divided out before one is learned anew differs.
void compare_parts() {
  const Setting settings[] = {{"8-6-5-1, 200 rows", validation::small_task(2), 64, 40, {"dma", "hybrid"}},
                              {"6-6-12-48-24-4, 1500 rows", validation::large_task(1), 128, 12, {"dma", "hybrid"}}};
  fmt::print(
      "| network | method | mini-batches | share a message | bytes a weight | log-likelihood after 2 | 10 | last epoch "
      "| off the truth |\n"
      "|---|---|---|---|---|---|---|---|---|\n");
  for (const Setting& setting : settings)
    for (const std::string& method : setting.methods)
      for (const std::size_t parts : {std::size_t{1}, std::size_t{4}, std::size_t{16}, setting.batches}) {
        Bnn net(network_of(setting.task, method));
        const FitReport report =
            net.fit(setting.task.inputs, setting.task.targets,
                    {.batches = setting.batches / parts, .parts = parts, .epochs = setting.epochs, .tolerance = 0});
        const auto& all = report.members[0].epochs;
        fmt::print("| {} | {} | {} | {} | {} | {:.3f} | {:.3f} | {:.3f} | {:.3f} |\n", setting.name, method,
                   setting.batches, parts, 16 * setting.batches / parts, all[1].log_likelihood,
                   all[std::min<std::size_t>(all.size(), 10) - 1].log_likelihood, all.back().log_likelihood,
                   distance_to_truth(net, setting.task));
      }
}

void compare_times() {
  const validation::PaperTask task = validation::large_task(1);
  fmt::print("| what | threads | wall ms | processor ms | faster |\n|---|---|---|---|---|\n");
  const auto rows = [](const std::string& what, const std::function<void(std::size_t)>& work) {
    double alone = 0;
    for (const std::size_t jobs : {std::size_t{1}, std::min<std::size_t>(2, all_processors())}) {
      const Cost cost = cost_of([&] { work(jobs); });
      if (jobs == 1) alone = cost.wall;
      fmt::print("| {} | {} | {:.0f} | {:.0f} | {:.2f} |\n", what, jobs, 1e3 * cost.wall, 1e3 * cost.processor,
                 alone / cost.wall);
    }
  };
  rows("6-6-12-48-24-4, 5 epochs, workers = threads", [&](std::size_t jobs) {
    Bnn(network_of(task, "dma"))
        .fit(task.inputs, task.targets, {.batches = 100, .epochs = 5, .tolerance = 0, .workers = jobs, .jobs = jobs});
  });
  rows("6-6-12-48-24-4, 5 epochs, 2 members", [&](std::size_t jobs) {
    BnnOptions two = network_of(task, "dma");
    two.members = 2;
    Bnn(two).fit(task.inputs, task.targets, {.batches = 100, .epochs = 5, .tolerance = 0, .jobs = jobs});
  });
  for (const std::size_t members : {1u, 2u})
    rows(fmt::format("joint learning, 6-40-4, 500 rows, {} member(s), 5 epochs", members), [&](std::size_t jobs) {
      Bnn({.layers = {6, 40, 4}, .members = members})
          .fit(task.inputs.topRows(500), task.targets.topRows(500), {.batches = 1, .epochs = 5, .jobs = jobs});
    });
}

// An epoch of W processes: every one learns its fraction of the rows, and in each of the rounds two messages of all
// weights go out of every process and two come in (tools/mpi/processes.cpp): to each of the others a slice, and back.
void extrapolate() {
  const validation::PaperTask task = validation::large_task(1);
  double weights = 0;
  for (std::size_t l = 0; l + 1 < task.layers.size(); ++l)
    weights += static_cast<double>(task.layers[l] * task.layers[l + 1]);
  constexpr int kEpochs = 4;
  const Cost cost = cost_of([&] {
    Bnn(network_of(task, "dma")).fit(task.inputs, task.targets, {.batches = 100, .epochs = kEpochs, .tolerance = 0});
  });
  const double work = cost.processor / kEpochs / weights / static_cast<double>(task.inputs.rows());
  constexpr double kLatency = 3e-6, kBytesPerSecond = 5e9;  // of a message between machines, and of a process's link
  fmt::print(
      "measured: {:.1f} ns of one processor per weight and row; {:.0f} bytes out of a process and as many in, per "
      "weight and round\n"
      "assumed: {:.0f} us a message, {:.0f} GB/s a process\n\n"
      "| weights | rows | processes | rounds | work s | messages s | epoch s | of perfect "
      "|\n|---|---|---|---|---|---|---|---|\n",
      1e9 * work, 32.0, 1e6 * kLatency, 1e-9 * kBytesPerSecond);
  for (const auto& [p, n] : {std::pair{2e3, 1e6}, std::pair{1e5, 1e6}, std::pair{1e6, 1e8}})
    for (const double w : {1.0, 8.0, 64.0, 512.0}) {
      constexpr double kBatches = 20 * 512;  // mini-batches: 20 rounds for the most processes
      const double rounds = std::ceil(kBatches / w);
      const double compute = work * p * n / w;
      const double messages = w == 1 ? 0 : rounds * (2 * (w - 1) * kLatency + 32 * p * (w - 1) / w / kBytesPerSecond);
      fmt::print("| {:.0e} | {:.0e} | {} | {} | {:.3g} | {:.3g} | {:.3g} | {:.0f} % |\n", p, n, w, rounds, compute,
                 messages, compute + messages, 100 * compute / (compute + messages));
    }
}

}  // namespace

int main(int count, char** arguments) try {
  const std::string_view mode = count == 2 ? arguments[1] : "";
  if (count == 1) compare_quality();
  else if (mode == "--parts") compare_parts();
  else if (mode == "--time") compare_times();
  else if (mode == "--extrapolate") extrapolate();
  else fail("usage: dma_scaling [--parts | --time | --extrapolate]");
  return 0;
} catch (const dma::Error& e) {
  fmt::print(stderr, "dma_scaling: {}\n", e.what());
  return 2;
}
