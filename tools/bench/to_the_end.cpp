#include "tools/bench/to_the_end.h"

#include <fmt/format.h>

#include <boost/random/mersenne_twister.hpp>
#include <boost/random/normal_distribution.hpp>
#include <cmath>
#include <optional>

#include "tools/bench/network_case.h"
#include "tools/experiments/paper/thread_seconds.h"

namespace dma::bench {

namespace {

struct AdamEnd {
  double rate, seconds;
  int epochs;
};

// None if it does not get there in `patience` seconds. Its rows are predicted by one network without a spread, which lets it
// explain them better than a posterior can, and each epoch is checked by one pass.
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
  return adam ? fmt::format("{:.1f} ms ({} epochs at rate {:g})", 1e3 * adam->seconds, adam->epochs, adam->rate) : "not in 5 s";
}

}  // namespace

std::string to_the_end() {
  std::string out = "to the stopping rule, and Adam to the same mean negative log-likelihood of the training rows\n";
  for (const char* name : {"8-6-5-1", "6-6-12-48-24-4"}) {
    const NetworkCase network = network_case(name);
    Bnn net({.layers = network.task.layers, .slopes = network.task.slopes, .noise = network.task.noise, .bias = false,
             .standardise = false, .method = "dma", .seed = 1});
    const double start = thread_seconds();
    const FitReport report = net.fit(network.task.inputs, network.task.targets, {.batches = network.batches, .tolerance = 0.1});
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
