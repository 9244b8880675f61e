// dma_scaling: what several workers cost in quality and bring in time, next to one (tools/SCALING.md).
//
//   build/dma_scaling [workers...]      rows for 1 and the given numbers of workers, by default 2, 4 and 8
#include <fmt/format.h>
#include <sys/resource.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "engine/support/error.h"
#include "engine/support/parallel.h"
#include "models/bnn.h"
#include "tools/validation/paper_tasks.h"

namespace {

using namespace dma;

double processor_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) { return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec); };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// Root mean squared distance of the predicted mean from the noise-free truth, at the learned rows.
double distance_to_truth(const Bnn& net, const validation::PaperTask& task) {
  const Prediction p = net.predict(task.inputs);
  double sum = 0;
  for (Eigen::Index n = 0; n < p.mean.rows(); ++n) sum += (p.mean.row(n) - task.truth(task.raw_inputs(n))).squaredNorm();
  return std::sqrt(sum / static_cast<double>(p.mean.size()));
}

struct Setting {
  const char* name;
  validation::PaperTask task;
  std::size_t batches;
  int epochs;
};

void compare(const Setting& setting, const std::string& method, const std::vector<std::size_t>& workers) {
  for (const std::size_t count : workers) {
    Bnn net({.layers = setting.task.layers, .slopes = setting.task.slopes, .noise = setting.task.noise, .bias = false,
             .standardise = false, .method = method, .seed = 1});
    const double cpu = processor_seconds();
    const auto start = std::chrono::steady_clock::now();
    const FitReport report = net.fit(setting.task.inputs, setting.task.targets,
                                     {.batches = setting.batches, .epochs = setting.epochs, .tolerance = 0, .workers = count,
                                      .jobs = std::min(count, all_processors())});
    const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const auto& epochs = report.members[0].epochs;
    const auto at = [&](std::size_t e) { return epochs[std::min(e, epochs.size()) - 1].log_likelihood; };
    fmt::print("{:<22} {:<10} {:>7} {:>9.4f} {:>9.4f} {:>9.4f} {:>9.4f} {:>8.1f} {:>8.1f} {:>6}\n", setting.name, method, count,
               at(2), at(10), at(epochs.size()), distance_to_truth(net, setting.task), 1e3 * wall / setting.epochs,
               1e3 * (processor_seconds() - cpu) / setting.epochs, report.members[0].faults);
  }
}

}  // namespace

int main(int count, char** arguments) try {
  std::vector<std::size_t> workers = {1};
  for (int i = 1; i < count; ++i) workers.push_back(std::strtoul(arguments[i], nullptr, 10));
  if (workers.size() == 1) workers = {1, 2, 4, 8};
  fmt::print("{:<22} {:<10} {:>7} {:>9} {:>9} {:>9} {:>9} {:>8} {:>8} {:>6}\n", "network", "method", "workers", "LL(2)", "LL(10)",
             "LL(end)", "off truth", "wall ms", "cpu ms", "faults");
  const Setting small{"8-6-5-1", validation::small_task(1), 40, 60}, large{"6-6-12-48-24-4", validation::large_task(1), 96, 20};
  for (const char* method : {"dma", "hybrid", "ep", "linearised", "vmp"}) compare(small, method, workers);
  for (const char* method : {"dma", "hybrid"}) compare(large, method, workers);
  return 0;
} catch (const dma::Error& e) {
  fmt::print(stderr, "dma_scaling: {}\n", e.what());
  return 2;
}
