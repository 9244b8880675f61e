#include "tools/bench/sizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "tools/bench/network_case.h"
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
  std::string out = fmt::format("ns for each weight and row, mini-batches of {} rows\n{:<16}{:>9}{:>12}{:>9}{:>9}{:>13}\n",
                                kRowsOfSizes, "network", "weights", "moments", "fused", "by hand", "to smallest");
  double smallest = 0;
  for (const std::size_t width : {44u, 140u, 447u, 1414u}) {
    const NetworkCase network = square_case(width);
    NetworkEpochs epochs(network);
    const double fused = least_time_of(epochs, NetworkEpochs::Way::fused, network.weights_times_rows());
    const double hand = least_time_of(epochs, NetworkEpochs::Way::hand, network.weights_times_rows());
    if (smallest == 0) smallest = fused;
    out += fmt::format("{:<16}{:>9}{:>9} kB{:>9.2f}{:>9.2f}{:>13.2f}\n", network.name, network.weights(), network.weights() / 64, fused,
                       hand, fused / smallest);
  }
  return out;
}

}  // namespace dma::bench
