#include "tools/bench/reports.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

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
#include "tools/bench/network_case.h"
#include "tools/experiments/paper/paper_run.h"
#include "tools/experiments/paper/thread_seconds.h"

namespace dma::bench {

std::string numbers() {
  std::string out;
  for (const char* name : {"8-6-5-1", "13-50-1"}) {
    const NetworkCase network = network_case(name);
    for (const bool fuse : {true, false}) {
      Bnn net({.layers = network.task.layers, .slopes = network.task.slopes, .noise = network.task.noise, .bias = false,
               .standardise = false, .method = "dma", .seed = 1, .shuffle = false, .fuse = fuse});
      net.fit(network.task.inputs, network.task.targets, {.batches = network.batches, .epochs = 3, .tolerance = 0});
      for (std::size_t l = 0; l + 1 < network.task.layers.size(); ++l)
        for (const Gaussian& w : net.weights(l)) out += fmt::format("{:.17g}\n{:.17g}\n", w.mean(), w.rho);
    }
  }
  return out;
}

std::string paper_medians(int seeds) {
  using validation::PaperRun;
  std::vector<PaperRun> runs;
  for (int seed = 1; seed <= seeds; ++seed) {
    const auto own = static_cast<std::uint64_t>(seed);
    runs.push_back(validation::run_paper_task(validation::small_task(own), -2.5, 1.5, "dma", own,
                                              {.batches = 10, .epochs = 200, .tolerance = 0.1}));
  }
  const auto quantile = [&](double PaperRun::*value, double probability) {
    std::vector<double> values;
    for (const PaperRun& r : runs) values.push_back(r.*value);
    return validation::quantile(values, probability);
  };
  std::string text =
      fmt::format("8-6-5-1 over {} seeds: median (quartiles){:>26}{:>12}\n", seeds, "plain loops", "paper");
  const auto line = [&](std::string_view name, double PaperRun::*value, std::string_view expected,
                        std::string_view paper) {
    text += fmt::format("  {:<24}{:>8.2f} ({:.2f} to {:.2f}){:>22}{:>12}\n", name, quantile(value, 0.5),
                        quantile(value, 0.25), quantile(value, 0.75), expected, paper);
  };
  line("epochs", &PaperRun::epochs, "6", "16");
  line("train NLL", &PaperRun::train_nll, "-0.10", "-0.16");
  line("extrapolation NLL", &PaperRun::extrapolation_nll, "0.87 to 1.2", "0.80");
  line("coverage deviation", &PaperRun::coverage_deviation, "-0.14 to -0.22", "-0.09");
  line("refused messages", &PaperRun::refused, "0", "0");
  text += fmt::format("  {:<24}{:>8.2f}{:>34}{:>12}\n", "IQR of extrapolation NLL",
                      quantile(&PaperRun::extrapolation_nll, 0.75) - quantile(&PaperRun::extrapolation_nll, 0.25),
                      "1.87", "1.95");
  return text;
}

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

double milliseconds_of(const std::string& program, std::vector<std::string> arguments) {
  std::vector<char*> given = {const_cast<char*>(program.c_str())};
  for (std::string& argument : arguments) given.push_back(argument.data());
  given.push_back(nullptr);
  posix_spawn_file_actions_t quiet;
  posix_spawn_file_actions_init(&quiet);
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO})
    posix_spawn_file_actions_addopen(&quiet, stream, "/dev/null", O_WRONLY, 0);
  const auto start = std::chrono::steady_clock::now();
  pid_t child = 0;
  int status = -1;
  const bool has_run = posix_spawn(&child, program.c_str(), &quiet, nullptr, given.data(), environ) == 0 &&
                       waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  posix_spawn_file_actions_destroy(&quiet);
  if (!has_run) fail("'{} {}' did not run to its end", program, fmt::join(arguments, " "));
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

double median_of(const std::string& program, const std::vector<std::string>& arguments) {
  std::vector<double> times;
  for (int i = 0; i < 21; ++i) times.push_back(milliseconds_of(program, arguments));
  std::ranges::sort(times);
  return times[times.size() / 2];
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
  const auto folder = std::filesystem::temp_directory_path() / fmt::format("dma_start_up_{}", getpid());
  std::filesystem::create_directories(folder);
  const std::string data = folder / "data.csv", row = folder / "row.csv", model = folder / "model.json";
  write_tables(data, row);
  milliseconds_of(program, {"fit", data, "--target", "y", "--model", model});
  const double help = median_of(program, {"--help"}), predict = median_of(program, {"predict", model, row});
  std::filesystem::remove_all(folder);
  return fmt::format(
      "start-up, wall time: dma --help {:.1f} ms (at most 10), dma predict of one row {:.1f} ms (at most 20)\n", help,
      predict);
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
    Bnn net({.layers = network.task.layers, .slopes = network.task.slopes, .noise = network.task.noise, .bias = false,
             .standardise = false, .method = "dma", .seed = 1});
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
