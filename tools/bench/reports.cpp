#include "tools/bench/reports.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/random/mersenne_twister.hpp>
#include <boost/random/normal_distribution.hpp>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <vector>

#include "engine/support/error.h"
#include "engine/support/shuffle.h"
#include "tools/bench/network_case.h"
#include "tools/dma/pictures/run_program.h"
#include "tools/experiments/paper/thread_seconds.h"

namespace dma::bench {

namespace {

// The least of some epochs: what other programs take from the caches only makes them longer.
double least_time_of(NetworkEpochs& epochs, NetworkEpochs::Way way, double weights_times_rows) {
  constexpr double kSeconds = 1;
  epochs.run(way);
  double least = std::numeric_limits<double>::infinity();
  const double start = thread_seconds();
  for (int turn = 0; turn < 3 || thread_seconds() - start < kSeconds; ++turn) {
    const double before = thread_seconds();
    epochs.run(way);
    least = std::min(least, thread_seconds() - before);
  }
  return 1e9 * least / weights_times_rows;
}

}  // namespace

std::string sizes() {
  std::string out =
      fmt::format("ns for each weight and row, mini-batches of {} rows\n{:<16}{:>9}{:>12}{:>9}{:>9}{:>13}\n",
                  kRowsOfSizes, "network", "weights", "moments", "fused", "by hand", "to smallest");
  double smallest = 0;
  for (const std::size_t width : {44u, 140u, 447u, 1414u}) {
    const NetworkCase network = square_case(width);
    NetworkEpochs epochs(network);
    const double fused = least_time_of(epochs, NetworkEpochs::Way::fused, network.weights_times_rows());
    const double hand = least_time_of(epochs, NetworkEpochs::Way::hand, network.weights_times_rows());
    if (smallest == 0) smallest = fused;
    out += fmt::format("{:<16}{:>9}{:>9} kB{:>9.2f}{:>9.2f}{:>13.2f}\n", network.name, network.weights(),
                       network.weights() / 64, fused, hand, fused / smallest);
  }
  return out;
}

namespace {

double milliseconds_of(const std::filesystem::path& folder, const std::vector<std::string>& command) {
  const auto start = std::chrono::steady_clock::now();
  if (plot::run_in(folder, command, 600) != 0) fail("'{}' did not run to its end", fmt::join(command, " "));
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

double median_of(const std::filesystem::path& folder, const std::vector<std::string>& command) {
  std::vector<double> times;
  for (int i = 0; i < 21; ++i) times.push_back(milliseconds_of(folder, command));
  return median(times);
}

// As large as boston, with something for networks to learn: the model then is four of them, each with its rows.
void write_tables(const std::string& data, const std::string& row) {
  constexpr std::size_t kRows = 455, kColumns = 13;
  boost::random::mt19937_64 random(1);
  boost::random::normal_distribution<double> normal;
  std::vector<double> x(kColumns);
  std::vector<std::string> names;
  for (std::size_t j = 0; j < kColumns; ++j) names.push_back(fmt::format("x{}", j));
  const std::string header = fmt::format("{}", fmt::join(names, ","));
  std::ofstream table(data);
  table << header << ",y\n";
  for (std::size_t n = 0; n < kRows; ++n) {
    std::ranges::generate(x, [&] { return normal(random); });
    const double y = x[0] + std::sin(2 * x[1]) + x[2] * x[3] + 0.3 * normal(random);
    table << fmt::format("{},{}\n", fmt::join(x, ","), y);
  }
  std::ofstream(row) << fmt::format("{}\n{}\n", header, fmt::join(x, ","));
}

}  // namespace

std::string start_up(const std::string& program) {
  const plot::ScratchFolder scratch;
  const std::filesystem::path& folder = scratch.path();
  const std::string dma = std::filesystem::absolute(program);
  write_tables(folder / "data.csv", folder / "row.csv");
  milliseconds_of(folder, {dma, "fit", "data.csv", "--target", "y", "--model", "model.json"});
  return fmt::format("start-up, wall time: dma --help {:.1f} ms, dma predict of one row {:.1f} ms\n",
                     median_of(folder, {dma, "--help"}), median_of(folder, {dma, "predict", "model.json", "row.csv"}));
}

namespace {

struct AdamEnd {
  double rate, seconds;
  int epochs;
};

// None if it does not get there in `patience` seconds. Its rows are predicted by one network without a spread, which
// lets it explain them better than a posterior can, and each epoch is checked by one pass.
std::optional<AdamEnd> adam_at(double rate, const NetworkCase& network, double nll, double patience) {
  const baselines::Network plain{network.task.layers, network.task.slopes};
  const baselines::Energy energy(plain, network.task.inputs, network.task.targets, network.task.noise,
                                 baselines::WeightPrior::none(plain));
  boost::random::mt19937_64 random(1);
  boost::random::normal_distribution<double> normal;
  Eigen::VectorXd weights(plain.weights());
  Eigen::Index k = 0;
  for (std::size_t l = 0; l + 1 < plain.layers.size(); ++l)
    for (std::size_t i = 0; i < plain.layers[l] * plain.layers[l + 1]; ++i)
      weights[k++] = std::sqrt(2.0 / static_cast<double>(plain.layers[l])) * normal(random);
  const double start = thread_seconds();
  std::optional<AdamEnd> end;
  minimise(energy, {.rate = rate}, 1'000'000, weights, static_cast<Eigen::Index>(network.rows() / network.batches),
           [&](int epoch, const Eigen::VectorXd& w) {
             const double now = thread_seconds() - start;
             if (energy.mean_nll(w) <= nll) end = {rate, now, epoch};
             return !end && now < patience;
           });
  return end;
}

std::string shown(const std::optional<AdamEnd>& adam) {
  return adam ? fmt::format("{:.1f} ms ({} epochs at rate {:g})", 1e3 * adam->seconds, adam->epochs, adam->rate)
              : "not in 5 s";
}

}  // namespace

std::string to_the_end() {
  std::string out = "to the stopping rule, and Adam to the same mean negative log-likelihood of the training rows\n";
  for (const char* name : {"8-6-5-1", "6-6-12-48-24-4"}) {
    const NetworkCase network = network_case(name);
    Bnn net({.layers = network.task.layers,
             .slopes = network.task.slopes,
             .noise = network.task.noise,
             .bias = false,
             .standardise = false,
             .method = "dma",
             .seed = 1});
    const double start = thread_seconds();
    const FitReport report =
        net.fit(network.task.inputs, network.task.targets, {.batches = network.batches, .tolerance = 0.1});
    const double seconds = thread_seconds() - start;
    const double nll = -report.members[0].epochs.back().log_likelihood;
    std::optional<AdamEnd> slow, best;
    for (const double rate : {1e-3, 3e-3, 1e-2, 3e-2}) {
      const auto adam = adam_at(rate, network, nll, 5);
      if (rate == 1e-3) slow = adam;
      if (adam && (!best || adam->seconds < best->seconds)) best = adam;
    }
    out += fmt::format("{:<16}{:>8.1f} ms, {:>2} epochs, NLL {:>6.3f};  Adam {}, at best {}\n", name, 1e3 * seconds,
                       report.members[0].epochs.size(), nll, shown(slow), shown(best));
  }
  return out;
}

}  // namespace dma::bench
