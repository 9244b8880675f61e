#include "tools/bench/peaks.h"

#include <algorithm>
#include <cmath>

#include "engine/support/independent.h"
#include "engine/support/pair.h"
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
          over_array(kInCache, [](double x) { return x * 0.999; }) / 8, over_array(kInMemory, [](double x) { return x * 0.999; }) / 8};
}

// Counted in hand_network.cpp. A weight of the first layer, whose inputs are known, takes 3 multiply-adds to predict, 3 to
// learn; any other 4, and 27 with one division. The likelihood predicts once more. A unit's rectifier is computed three times, with a
// root, four divisions and some 60 multiply-adds each. A weight's two numbers are read to predict, and read and written to
// learn: 48 bytes, half of which count as read and written.
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
  return std::max({operations * peaks.multiply_add, divisions * peaks.divide + roots * peaks.root, bytes * byte}) / weights;
}

}  // namespace dma::bench
