#include "factors/likelihoods/mixture.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/kinds/kind.h"
#include "engine/support/log_sum_exp.h"

namespace dma {

namespace {

// Component k as a density of y.
Gaussian component_of(const Gaussian& mean, double variance) {
  return mean.is_uniform() ? mean : Gaussian::from_moments(mean.mean(), mean.variance() + variance);
}

// log Z_k up to a constant, or all 0 where something unknown makes them incomparable. Two point masses that meet are
// +inf.
bool log_masses(Mixture::Means means, const Gaussian& y, Mixture::Parameters p, double* out) {
  bool comparable = !y.is_uniform();
  for (const Gaussian& mean : means) comparable &= !mean.is_uniform();
  for (std::size_t k = 0; k < means.size(); ++k)
    out[k] = comparable ? log_overlap(component_of(means[k], p.variances[k]), y) : 0.0;
  return comparable;
}

struct MixtureMemory {
  std::vector<double> fractions, logs;
};

// r_k = w_k Z_k / sum; kept until the next call in this thread.
std::span<double> fractions(Mixture::Selector selector, Mixture::Means means, const Gaussian& y,
                            Mixture::Parameters p) {
  thread_local MixtureMemory memory;
  memory.fractions.resize(means.size());
  memory.logs.resize(means.size());
  (void)log_masses(means, y, p, memory.fractions.data());
  Categorical::logs(selector, memory.logs.data());
  for (std::size_t k = 0; k < means.size(); ++k) memory.fractions[k] += memory.logs[k];
  to_fractions(memory.fractions);
  return memory.fractions;
}

struct MixtureMoments {
  double weight = 0, mean = 0, square = 0;  // of deviations from `around`
  double around = 0;

  void add(double fraction, const Gaussian& g) {
    if (fraction == 0) return;
    if (weight == 0) around = g.mean();
    const double deviation = g.mean() - around;
    weight += fraction;
    mean += fraction * deviation;
    square += fraction * (deviation * deviation + g.variance());
  }
  Gaussian projected() const {
    const double centre = mean / weight;
    return Gaussian::from_moments(around + centre, std::max(0.0, square / weight - centre * centre));
  }
};

bool is_message_between(const Gaussian& m) { return is_valid(m) && m.rho > 0 && m.rho < kInfinity; }

}  // namespace

void Mixture::to_selector(Means means, const Gaussian& y, Parameters p, std::span<CategoricalComponent> out) {
  thread_local std::vector<double> logs;
  logs.resize(means.size());
  const bool comparable = log_masses(means, y, p, logs.data());
  const double largest = std::ranges::max(logs);
  for (std::size_t k = 0; k < means.size(); ++k) {
    const bool is_certain = largest == kInfinity && logs[k] == kInfinity;
    if (!comparable || is_certain) out[k] = {};
    else if (logs[k] == -kInfinity || largest == kInfinity) out[k] = CategoricalComponent::forbidden();
    else out[k] = {logs[k] - largest, 0};
  }
}

GaussianOrFallback Mixture::to_y(Selector selector, Means means, const Gaussian& y, Parameters p) {
  const auto r = fractions(selector, means, y, p);
  MixtureMoments tilted;
  for (std::size_t k = 0; k < means.size(); ++k) {
    const Gaussian g = component_of(means[k], p.variances[k]);
    if (r[k] > 0 && g.is_uniform()) return GaussianOrFallback(Gaussian::uniform());
    tilted.add(r[k], g * y);
  }
  const Gaussian own = tilted.projected() / y;
  if (y.is_uniform() || (!y.is_point() && is_message_between(own))) return GaussianOrFallback(own);
  const auto alone = fractions(selector, means, Gaussian::uniform(), p);
  MixtureMoments mixture;
  for (std::size_t k = 0; k < means.size(); ++k) mixture.add(alone[k], component_of(means[k], p.variances[k]));
  return {mixture.projected(), !y.is_point()};
}

void Mixture::to_means(Selector selector, Means means, const Gaussian& y, Parameters p,
                       std::span<GaussianOrFallback> out) {
  std::ranges::fill(out, GaussianOrFallback());
  if (y.is_uniform()) return;
  const auto r = fractions(selector, means, y, p);
  for (std::size_t k = 0; k < means.size(); ++k) {
    const Gaussian said = Gaussian::from_moments(y.mean(), y.variance() + p.variances[k]);
    if (r[k] == 0) continue;
    if (means[k].is_proper()) {
      MixtureMoments tilted;
      tilted.add(r[k], means[k] * said);
      tilted.add(1 - r[k], means[k]);
      out[k] = GaussianOrFallback(tilted.projected() / means[k]);
      if (is_message_between(out[k])) continue;
    }
    out[k] = {Gaussian(power(said, r[k])), means[k].is_proper()};
  }
}

double Mixture::log_integral(Components arrivals, Parameters p) {
  const std::size_t count = p.variances.size();
  std::vector<double> weights(count), logs(count);  // both as logarithms
  Categorical::logs(arrivals.first(count), weights.data());
  std::vector<Gaussian> means;
  for (const Natural& m : arrivals.subspan(count, count)) means.emplace_back(m);
  const Gaussian y(arrivals[2 * count]);
  if (y.is_uniform()) return 0;  // every component has the integral 1
  if (!log_masses(means, y, p, logs.data())) return std::nan("");
  const double in_all = log_sum_exp(weights);
  if (in_all == -kInfinity) return in_all;
  for (std::size_t k = 0; k < count; ++k) logs[k] += weights[k];
  return log_sum_exp(logs) - in_all;
}

Kind mixture_kind() {
  return kind("mixture", "N(y; mean k, variance k), k the selector's category")
      .input("selector", "categorical")
      .variadic_input("means")
      .same_terms("selector", "means")
      .output("y")
      .per_term_parameter("variance", 1.0, above(0), finite())
      .log_integral([](auto m, auto p) { return Mixture::log_integral(m, {p}); })
      .message<&Mixture::to_selector>(kExact, "selector", from("means", "y"))
      .message<&Mixture::to_means>("ep", "means", from("selector", "means", "y"))
      .message<&Mixture::to_y>("ep", "y", from("selector", "means", "y"));
}

}  // namespace dma
