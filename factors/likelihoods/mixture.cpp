#include "factors/likelihoods/mixture.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/kinds/kind.h"
#include "engine/messages/mixed.h"
#include "engine/support/log_sum_exp.h"
#include "factors/likelihoods/gaussian_precision.h"

namespace dma {

namespace {

// Component k as a density of y.
Gaussian component_of(const Gaussian& mean, double variance) {
  return mean.is_uniform() ? mean : Gaussian::from_moments(mean.mean(), mean.variance() + variance);
}

// Component k, as the messages of both kinds use it: log Z_k, and its messages to y and to its mean.
struct OfKnownVariance {
  Mixture::Means means;
  Mixture::Parameters p;

  bool is_known(std::size_t k) const { return !means[k].is_uniform(); }
  double log_mass(std::size_t k, const Gaussian& y) const { return log_overlap(to_y(k, y), y); }
  Gaussian to_y(std::size_t k, const Gaussian&) const { return component_of(means[k], p.variances[k]); }
  Gaussian to_mean(std::size_t k, const Gaussian& y) const {
    return Gaussian::from_moments(y.mean(), y.variance() + p.variances[k]);
  }
};
struct OfUnknownPrecision {
  Mixture::Means means;
  NormalMixture::Precisions precisions;

  bool is_known(std::size_t k) const {
    return !means[k].is_uniform() && (precisions[k].is_point() || precisions[k].is_proper());
  }
  double log_mass(std::size_t k, const Gaussian& y) const {
    const Natural arrivals[] = {means[k], precisions[k], y};
    return GaussianPrecision::log_integral(arrivals);
  }
  Gaussian to_y(std::size_t k, const Gaussian& y) const {
    return GaussianPrecision::Ep::to_value(means[k], precisions[k], y);
  }
  Gaussian to_mean(std::size_t k, const Gaussian& y) const {
    return GaussianPrecision::Ep::to_mean(means[k], precisions[k], y);
  }
};

// log Z_k up to a constant, or all 0 if a uniform message makes them incomparable. Two point masses that meet give
// +inf.
template <class Of>
bool log_masses(const Of& of, const Gaussian& y, std::span<double> out) {
  bool comparable = !y.is_uniform();
  for (std::size_t k = 0; k < out.size(); ++k) comparable &= of.is_known(k);
  for (std::size_t k = 0; k < out.size(); ++k) out[k] = comparable ? of.log_mass(k, y) : 0.0;
  for (double& log : out)
    if (std::isnan(log)) return std::ranges::fill(out, 0.0), false;
  return comparable;
}

// r_k = w_k Z_k / sum; kept until the next call in this thread.
template <class Of>
std::span<const double> fractions(Mixture::Selector selector, const Of& of, const Gaussian& y) {
  thread_local std::vector<double> memory[2];
  auto& [r, logs] = memory;
  r.resize(selector.size());
  logs.resize(selector.size());
  (void)log_masses(of, y, r);
  Categorical::logs(selector, logs.data());
  for (std::size_t k = 0; k < r.size(); ++k) r[k] += logs[k];
  to_fractions(r);
  return r;
}

constexpr double kUnseenFraction = 1e-16;  // a fraction too small to affect the moments of a mixture

bool is_message_between(const Gaussian& m) { return is_valid(m) && m.rho > 0 && m.rho < kInfinity; }

template <class Of>
void to_selector_of(const Of& of, const Gaussian& y, std::span<CategoricalComponent> out) {
  thread_local std::vector<double> logs;
  logs.resize(out.size());
  const bool comparable = log_masses(of, y, logs);
  const double largest = std::ranges::max(logs);
  for (std::size_t k = 0; k < out.size(); ++k) {
    const bool is_certain = largest == kInfinity && logs[k] == kInfinity;
    if (!comparable || is_certain)
      out[k] = {};
    else if (logs[k] == -kInfinity || largest == kInfinity)
      out[k] = CategoricalComponent::forbidden();
    else
      out[k] = {logs[k] - largest, 0};
  }
}

template <class Of>
GaussianOrFallback to_y_of(Mixture::Selector selector, const Of& of, const Gaussian& y) {
  const auto r = fractions(selector, of, y);
  MixedMoments tilted;
  for (std::size_t k = 0; k < r.size(); ++k) {
    const Gaussian g = of.to_y(k, y);
    if (r[k] > 0 && g.is_uniform()) return GaussianOrFallback(Gaussian::uniform());
    tilted.add(r[k], g * y);
  }
  const Gaussian own = tilted.projected() / y;
  if (y.is_uniform() || (!y.is_point() && is_message_between(own))) return GaussianOrFallback(own);
  const auto alone = fractions(selector, of, Gaussian::uniform());
  MixedMoments mixture;
  for (std::size_t k = 0; k < r.size(); ++k) mixture.add(alone[k], of.to_y(k, y));
  return {mixture.projected(), !y.is_point()};
}

template <class Of>
void to_means_of(Mixture::Selector selector, const Of& of, const Gaussian& y, std::span<GaussianOrFallback> out) {
  std::ranges::fill(out, GaussianOrFallback());
  if (y.is_uniform()) return;
  const auto r = fractions(selector, of, y);
  for (std::size_t k = 0; k < r.size(); ++k) {
    const Gaussian said = of.to_mean(k, y);
    if (r[k] < kUnseenFraction || said.is_uniform()) continue;
    if (of.means[k].is_proper()) {
      MixedMoments tilted;
      tilted.add(r[k], of.means[k] * said);
      tilted.add(1 - r[k], of.means[k]);
      out[k] = GaussianOrFallback(tilted.projected() / of.means[k]);
      if (is_message_between(out[k])) continue;
    }
    out[k] = {Gaussian(power(said, r[k])), of.means[k].is_proper()};
  }
}

// log of the sum of w_k Z_k, from the log weights and the messages of components and y.
template <class Of>
double log_integral_of(std::vector<double> weights, const Of& of, const Gaussian& y) {
  if (y.is_uniform()) return 0;  // every component integrates to 1
  std::vector<double> logs(weights.size());
  if (!log_masses(of, y, logs)) return std::nan("");
  const double in_all = log_sum_exp(weights);
  if (in_all == -kInfinity) return in_all;
  for (std::size_t k = 0; k < logs.size(); ++k) logs[k] += weights[k];
  return log_sum_exp(logs) - in_all;
}

template <class Message>
std::vector<Message> messages_in(Components arrivals) {
  std::vector<Message> out;
  for (const Natural& m : arrivals) out.emplace_back(m);
  return out;
}
std::vector<double> weights_in(Components selector) {
  std::vector<double> logs(selector.size());
  Categorical::logs(selector, logs.data());
  return logs;
}

}  // namespace

void Mixture::to_selector(Means means, const Gaussian& y, Parameters p, std::span<CategoricalComponent> out) {
  to_selector_of(OfKnownVariance{means, p}, y, out);
}
GaussianOrFallback Mixture::to_y(Selector selector, Means means, const Gaussian& y, Parameters p) {
  return to_y_of(selector, OfKnownVariance{means, p}, y);
}
void Mixture::to_means(Selector selector, Means means, const Gaussian& y, Parameters p,
                       std::span<GaussianOrFallback> out) {
  to_means_of(selector, OfKnownVariance{means, p}, y, out);
}
double Mixture::log_integral(Components arrivals, Parameters p) {
  const std::size_t count = p.variances.size();
  const auto means = messages_in<Gaussian>(arrivals.subspan(count, count));
  return log_integral_of(weights_in(arrivals.first(count)), OfKnownVariance{means, p}, Gaussian(arrivals.back()));
}

void NormalMixture::to_selector(Means means, Precisions precisions, const Gaussian& y,
                                std::span<CategoricalComponent> out) {
  to_selector_of(OfUnknownPrecision{means, precisions}, y, out);
}
GaussianOrFallback NormalMixture::to_y(Selector selector, Means means, Precisions precisions, const Gaussian& y) {
  return to_y_of(selector, OfUnknownPrecision{means, precisions}, y);
}
void NormalMixture::to_means(Selector selector, Means means, Precisions precisions, const Gaussian& y,
                             std::span<GaussianOrFallback> out) {
  to_means_of(selector, OfUnknownPrecision{means, precisions}, y, out);
}
void NormalMixture::to_precisions(Selector selector, Means means, Precisions precisions, const Gaussian& y,
                                  std::span<OrFallback<Gamma>> out) {
  std::ranges::fill(out, OrFallback<Gamma>());
  if (y.is_uniform()) return;
  const auto r = fractions(selector, OfUnknownPrecision{means, precisions}, y);
  for (std::size_t k = 0; k < r.size(); ++k) {
    if (r[k] < kUnseenFraction || means[k].is_uniform()) continue;
    const Gamma said = GaussianPrecision::Ep::to_precision(means[k], precisions[k], y), before = precisions[k];
    const Gamma after(before.tau + said.tau, before.rho + said.rho);
    if (before.is_proper() && after.is_proper()) {  // by differences: a single observation among many changes little
      const double apart = (said.tau - before.mean() * said.rho) / after.rho, more = r[k] * apart,
                   spread = r[k] * ((apart - before.variance() * said.rho) / after.rho + (1 - r[k]) * apart * apart),
                   rate = (more - before.rho * spread) / (before.variance() + spread);
      out[k] = OrFallback<Gamma>(Gamma(more * (before.rho + rate) + before.mean() * rate, rate));
      if (Gamma(before.tau + out[k].tau, before.rho + rate).is_proper() && Gamma::is_message(out[k])) continue;
    }
    out[k] = {Gamma(r[k] * said.tau, r[k] * said.rho), before.is_proper()};
  }
}
double NormalMixture::log_integral(Components arrivals) {
  const std::size_t count = arrivals.size() / 3;  // components and y
  const auto means = messages_in<Gaussian>(arrivals.subspan(count, count));
  const auto precisions = messages_in<Gamma>(arrivals.subspan(2 * count, count));
  return log_integral_of(weights_in(arrivals.first(count)), OfUnknownPrecision{means, precisions},
                         Gaussian(arrivals.back()));
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

Kind normal_mixture_kind() {
  return kind("normal_mixture", "N(y; mean k, 1 / precision k), k the selector's category")
      .input("selector", "categorical")
      .variadic_input("means")
      .variadic_input("precisions", "gamma")
      .same_terms("selector", "means")
      .same_terms("selector", "precisions")
      .output("y")
      .log_integral([](auto m, auto) { return NormalMixture::log_integral(m); })
      .message<&NormalMixture::to_selector>("ep", "selector", from("means", "precisions", "y"))
      .message<&NormalMixture::to_means>("ep", "means", from("selector", "means", "precisions", "y"))
      .message<&NormalMixture::to_precisions>("ep", "precisions", from("selector", "means", "precisions", "y"))
      .message<&NormalMixture::to_y>("ep", "y", from("selector", "means", "precisions", "y"));
}

}  // namespace dma
