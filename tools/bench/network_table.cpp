#include "tools/bench/network_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>

#include "engine/support/shuffle.h"
#include "tools/experiments/paper/thread_seconds.h"

namespace dma::bench {

namespace {

using Way = NetworkEpochs::Way;
constexpr std::array kWays{Way::fused, Way::hand, Way::unfused, Way::adam};

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

double middle_ratio(const std::vector<double>& above, const std::vector<double>& below) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < above.size(); ++i) ratios.push_back(above[i] / below[i]);
  return median(ratios);
}

}  // namespace

NetworkRow measure_network(const std::string& name, double seconds) {
  const NetworkCase network = network_case(name);
  NetworkEpochs epochs(network);
  for (const Way way : kWays) epochs.run(way);
  NetworkRow row{.name = name, .weights = network.weights(), .rows = network.rows()};
  row.difference = epochs.difference(Way::fused);
  std::map<Way, std::vector<double>> times;
  const double start = thread_seconds();
  for (int turn = 0; turn < 3 || thread_seconds() - start < 4 * seconds; ++turn)
    for (const Way way : kWays) {
      const double before = thread_seconds();
      epochs.run(way);
      times[way].push_back(1e9 * (thread_seconds() - before) / network.weights_times_rows());
    }
  row.fused = median(times[Way::fused]), row.unfused = median(times[Way::unfused]);
  row.hand = median(times[Way::hand]), row.adam = median(times[Way::adam]);
  row.fused_by_hand = middle_ratio(times[Way::fused], times[Way::hand]);
  row.unfused_by_fused = middle_ratio(times[Way::unfused], times[Way::fused]);
  row.fused_by_adam = middle_ratio(times[Way::fused], times[Way::adam]);
  return row;
}

std::string text(const std::vector<NetworkRow>& rows) {
  std::string out = "ns for each weight and row of an epoch, one thread\n";
  out += fmt::format("{:<16}{:>9}{:>6}{:>9}{:>9}{:>9}{:>9}{:>12}{:>15}{:>12}{:>12}\n", "network", "weights", "rows",
                     "fused", "unfused", "by hand", "Adam", "fused/hand", "unfused/fused", "fused/Adam", "difference");
  for (const NetworkRow& r : rows)
    out += fmt::format("{:<16}{:>9}{:>6}{:>9.2f}{:>9.2f}{:>9.2f}{:>9.2f}{:>12.2f}{:>15.2f}{:>12.2f}{:>12.1e}\n", r.name,
                       r.weights, r.rows, r.fused, r.unfused, r.hand, r.adam, r.fused_by_hand, r.unfused_by_fused,
                       r.fused_by_adam, r.difference);
  return out;
}

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

}  // namespace dma::bench
