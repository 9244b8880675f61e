#include "engine/certify/sampling.h"

#include <algorithm>
#include <boost/random/normal_distribution.hpp>
#include <cmath>
#include <numeric>

#include "engine/support/whole_number.h"

namespace dma {

double WeightedSamples::effective() const {
  double sum = 0, squares = 0;
  for (const double w : weight) sum += w, squares += w * w;
  return squares > 0 ? sum * sum / squares : 0.0;
}

double WeightedSamples::mean() const {
  return std::inner_product(x.begin(), x.end(), weight.begin(), 0.0) /
         std::accumulate(weight.begin(), weight.end(), 0.0);
}

double WeightedSamples::variance() const {
  const double m = mean();
  double sum = 0, total = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += weight[i] * (x[i] - m) * (x[i] - m), total += weight[i];
  return sum / total;
}

std::pair<double, double> WeightedSamples::quantiles(double low, double high) const {
  std::vector<std::pair<double, double>> sorted(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) sorted[i] = {x[i], weight[i]};
  std::ranges::sort(sorted);
  const double total = std::accumulate(weight.begin(), weight.end(), 0.0);
  std::pair found{sorted.back().first, sorted.back().first};
  double sum = 0;
  bool below = true;
  for (const auto& [value, w] : sorted) {
    sum += w;
    if (below && sum >= low * total) found.first = value, below = false;
    if (sum >= high * total) {
      found.second = value;
      break;
    }
  }
  return found;
}

WeightedSamples sample_marginal(const Kind& kind, const Scenario& scenario, std::size_t port, std::size_t term,
                                int count, std::uint64_t seed) {
  struct Slot {
    Gaussian message;
    bool drawn;
  };
  std::vector<Slot> slots;
  std::size_t target = 0;
  for (std::size_t p = 0; p < scenario.arrivals.size(); ++p)
    for (std::size_t t = 0; t < scenario.arrivals[p].size(); ++t) {
      if (p == port && t == term) target = slots.size();
      slots.push_back({Gaussian(scenario.arrivals[p][t]), !kind.function() || !kind.ports()[p].output});
    }
  boost::random::mt19937_64 engine(seed);
  boost::random::normal_distribution<double> normal;
  WeightedSamples samples;
  std::vector<double> values(slots.size()), inputs;
  for (int n = 0; n < count; ++n) {
    inputs.clear();
    for (std::size_t i = 0; i < slots.size(); ++i)
      if (slots[i].drawn) {
        const Gaussian& m = slots[i].message;
        values[i] = m.is_point() ? m.mean() : m.mean() + m.sd() * normal(engine);
        inputs.push_back(values[i]);
      }
    double log_weight = 0, z = 0;
    if (kind.function()) {
      z = kind.function()(inputs, scenario.parameters);
      for (const Slot& slot : slots)
        if (!slot.drawn) log_weight += log_density(slot.message, z);
    } else {
      log_weight = kind.log_density()(values, scenario.parameters);
    }
    samples.x.push_back(slots[target].drawn ? values[target] : z);
    samples.weight.push_back(std::exp(log_weight));
  }
  return samples;
}

Histogram histogram(const WeightedSamples& samples, std::size_t bins) {
  const auto [low, high] = samples.quantiles(0.001, 0.999);
  Histogram h{low, high, std::vector<double>(bins)};
  double total = 0;
  for (std::size_t i = 0; i < samples.x.size(); ++i) {
    if (!(samples.x[i] >= h.low && samples.x[i] <= h.high)) continue;
    h.fraction[whole_number<std::size_t>((samples.x[i] - h.low) / h.width(), 0, bins - 1)] += samples.weight[i];
    total += samples.weight[i];
  }
  for (double& fraction : h.fraction) fraction /= total;
  return h;
}

double kl(const Histogram& histogram, const Gaussian& q) {
  const auto mass = [&](double a, double b) {
    // The difference of upper tails on the right of the mean, of lower tails on the left: no cancellation.
    const double ua = (a - q.mean()) / q.sd() / std::sqrt(2.0), ub = (b - q.mean()) / q.sd() / std::sqrt(2.0);
    return 0.5 * (ua > 0 ? std::erfc(ua) - std::erfc(ub) : std::erfc(-ub) - std::erfc(-ua));
  };
  const double whole = mass(histogram.low, histogram.high);
  double sum = 0;
  for (std::size_t i = 0; i < histogram.fraction.size(); ++i) {
    const double p = histogram.fraction[i], a = histogram.low + static_cast<double>(i) * histogram.width();
    if (p > 0) sum += p * (std::log(p) - std::log(mass(a, a + histogram.width()) / whole));
  }
  return sum;
}

}  // namespace dma
