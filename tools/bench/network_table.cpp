#include "tools/bench/network_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/support/independent.h"
#include "engine/support/pair.h"
#include "engine/support/shuffle.h"
#include "tools/experiments/paper/thread_seconds.h"

namespace dma::bench {

namespace {

volatile double sink_of_results;

// Nanoseconds per double of the quickest of several rounds of work(), which handles `doubles` of them.
template <class Work>
double quickest(double doubles, const Work& work) {
  double best = 1e300;
  for (int round = 0; round < 15; ++round) {
    const double start = thread_seconds();
    sink_of_results = work();
    best = std::min(best, thread_seconds() - start);
  }
  return 1e9 * best / doubles;
}

template <class Use>
double over_array(std::size_t size, const Use& use) {
  std::vector<double> array(size, 1.5);
  const std::size_t repeats = std::max<std::size_t>(1, 400'000 / size);
  return quickest(static_cast<double>(size * repeats), [&] {
    double* const data = array.data();
    for (std::size_t r = 0; r < repeats; ++r) {
      DMA_INDEPENDENT
      for (std::size_t i = 0; i < size; ++i) data[i] = use(data[i]);
    }
    return data[size / 2];
  });
}

double multiply_add_rate() {
  constexpr std::size_t kChains = 16, kRounds = 100'000;
  return quickest(2 * kChains * kRounds, [] {
    Pair sums[kChains], factor{1.0000001, 0.9999999}, more{1e-9, 1e-9};
    for (std::size_t c = 0; c < kChains; ++c) sums[c] = Pair{1, 1} * static_cast<double>(c + 1);
    for (std::size_t s = 0; s < kRounds; ++s)
      for (std::size_t c = 0; c < kChains; ++c) sums[c] += factor * more;
    double all = 0;
    for (const Pair& sum : sums) all += total(sum);
    return all;
  });
}

}  // namespace

PeakRates measure_peaks() {
  constexpr std::size_t kInCache = 2048, kInMemory = 16'000'000;
  return {multiply_add_rate(), over_array(kInCache, [](double x) { return 1 / x; }),
          over_array(kInCache, [](double x) { return std::sqrt(x); }),
          over_array(kInCache, [](double x) { return x * 0.999; }) / 8,
          over_array(kInMemory, [](double x) { return x * 0.999; }) / 8};
}

// Counted in hand_network.cpp. A weight of the first layer, whose inputs are known, takes 3 multiply-adds to predict, 3
// to learn; any other 4, and 27 with one division. The likelihood predicts once more. A unit's rectifier is computed
// three times, with a root, four divisions and some 60 multiply-adds each. A weight's two numbers are read to predict,
// and read and written to learn: 48 bytes, half of which count as read and written.
double least_time(const PeakRates& peaks, const std::vector<std::size_t>& layers) {
  double operations = 0, divisions = 0, roots = 0, weights = 0;
  for (std::size_t l = 0; l + 1 < layers.size(); ++l) {
    const auto count = static_cast<double>(layers[l] * layers[l + 1]);
    weights += count;
    operations += count * (l == 0 ? 3 + 3 + 3 : 4 + 27 + 4);
    divisions += l == 0 ? 0 : count;
    if (l + 2 == layers.size()) continue;
    const auto units = 3 * static_cast<double>(layers[l + 1]);
    operations += 60 * units, divisions += 4 * units, roots += units;
  }
  constexpr double kCacheBytes = 1 << 20;  // weights of more than this come from memory
  const double bytes = weights * 32, byte = weights * 16 > kCacheBytes ? peaks.byte_of_memory : peaks.byte_of_cache;
  return std::max({operations * peaks.multiply_add, divisions * peaks.divide + roots * peaks.root, bytes * byte}) /
         weights;
}

namespace {

using Way = NetworkEpochs::Way;
constexpr std::array kWays{Way::fused, Way::hand, Way::unfused, Way::adam};

double middle_ratio(const std::vector<double>& above, const std::vector<double>& below) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < above.size(); ++i) ratios.push_back(above[i] / below[i]);
  return median(ratios);
}

}  // namespace

NetworkRow measure_network(const std::string& name, const PeakRates& peaks, double seconds) {
  const NetworkCase network = network_case(name);
  NetworkEpochs epochs(network);
  for (const Way way : kWays) epochs.run(way);
  NetworkRow row{name, network.weights(), network.rows(), 0, 0, 0, 0, 0, 0, 0, 0, epochs.difference(Way::fused)};
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
  row.least = least_time(peaks, network.task.layers);
  row.fused_by_hand = middle_ratio(times[Way::fused], times[Way::hand]);
  row.unfused_by_fused = middle_ratio(times[Way::unfused], times[Way::fused]);
  row.fused_by_adam = middle_ratio(times[Way::fused], times[Way::adam]);
  return row;
}

std::string text(const std::vector<NetworkRow>& rows) {
  std::string out = "ns for each weight and row of an epoch, one thread\n";
  out += fmt::format("{:<16}{:>9}{:>6}{:>9}{:>9}{:>9}{:>9}{:>9}{:>12}{:>15}{:>12}{:>12}\n", "network", "weights",
                     "rows", "fused", "unfused", "by hand", "Adam", "bound", "fused/hand", "unfused/fused",
                     "fused/Adam", "difference");
  for (const NetworkRow& r : rows)
    out += fmt::format("{:<16}{:>9}{:>6}{:>9.2f}{:>9.2f}{:>9.2f}{:>9.2f}{:>9.2f}{:>12.2f}{:>15.2f}{:>12.2f}{:>12.1e}\n",
                       r.name, r.weights, r.rows, r.fused, r.unfused, r.hand, r.adam, r.least, r.fused_by_hand,
                       r.unfused_by_fused, r.fused_by_adam, r.difference);
  return out;
}

}  // namespace dma::bench
