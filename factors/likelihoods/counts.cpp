#include "factors/likelihoods/counts.h"

#include <cmath>

#include "factors/authoring/from_log_density.h"
#include "factors/families/log_gamma.h"
#include "factors/likelihoods/poisson.h"

namespace dma {

namespace {

bool is_count(double y, double most = kInfinity) { return y >= 0 && y <= most && y == std::floor(y); }

double log_1_plus_exp(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }

double log_choose(double n, double k) { return log_gamma(n + 1) - log_gamma(k + 1) - log_gamma(n - k + 1); }

double log_beta(double a, double b) { return log_gamma(a) + log_gamma(b) - log_gamma(a + b); }

const Domain kCounts = at_least(0) & finite() & whole();

}  // namespace

double Binomial::log_density(double x, double y, std::span<const double> p) {
  const double n = p[0];
  if (!is_count(y, n)) return -kInfinity;
  return log_choose(n, y) - y * log_1_plus_exp(-x) - (n - y) * log_1_plus_exp(x);
}

// The mean near 0 or 1 leaves one of the two shapes near 0, where log gamma(a) is -log a but for a itself.
double BetaBinomial::log_density(double x, double y, std::span<const double> p) {
  const double n = p[0], c = p[1];
  if (!is_count(y, n)) return -kInfinity;
  const double a = c * std::exp(-log_1_plus_exp(-x)), b = c * std::exp(-log_1_plus_exp(x));
  if (!(a > 0 && b > 0)) return -kInfinity;
  return log_choose(n, y) + log_beta(y + a, n - y + b) - log_beta(a, b);
}

double NegativeBinomial::log_density(double x, double y, std::span<const double> p) {
  const double r = p[0], log_odds = x + std::log(p[1] / r);  // mean / r
  if (!is_count(y)) return -kInfinity;
  return log_gamma(y + r) - log_gamma(r) - log_gamma(y + 1) - y * log_1_plus_exp(-log_odds) -
         r * log_1_plus_exp(log_odds);
}

Kind binomial_kind() {
  return likelihood_from_log_density("binomial", &Binomial::log_density,
                                     "y of so many trials succeed, each with probability 1 / (1 + exp(-x))",
                                     {{"trials", at_least(1) & finite() & whole()}})
      .observes("y", kCounts);
}

Kind beta_binomial_kind() {
  return likelihood_from_log_density(
             "beta_binomial", &BetaBinomial::log_density,
             "y of so many trials succeed, with a probability that varies around 1 / (1 + exp(-x))",
             {{"trials", at_least(1) & finite() & whole()}, {"concentration", above(0) & finite()}})
      .observes("y", kCounts);
}

Kind negative_binomial_kind() {
  return likelihood_from_log_density(
             "negative_binomial", &NegativeBinomial::log_density,
             "y counts events of a rate that varies around exposure exp(x), more so for a small shape",
             {{"shape", above(0) & finite()}, {"exposure", above(0) & finite(), 1.0}})
      .observes("y", kCounts);
}

// Of a count that is not known, nothing.
Gamma PoissonDraw::to_rate(const Gaussian& y, std::array<double, 1> exposure) {
  return y.is_point() ? Gamma(y.mean(), exposure[0]) : Gamma();
}

double PoissonDraw::log_integral(Components arrivals, double exposure) {
  const Gamma rate(arrivals[0]);
  const Gaussian y(arrivals[1]);
  if (y.is_uniform()) return 0;
  if (!y.is_point()) return std::nan("");
  if (!is_count(y.mean())) return -kInfinity;
  if (rate.is_point()) return Poisson::log_density(std::log(rate.mean()), y.mean(), {&exposure, 1});
  if (!rate.is_proper()) return std::nan("");
  const double shape_and_exposure[] = {rate.shape(), exposure};
  return NegativeBinomial::log_density(std::log(rate.mean()), y.mean(), shape_and_exposure);
}

Kind poisson_draw_kind() {
  return kind("poisson_draw", "y counts events of exposure times the rate, which is unknown")
      .input("rate", "gamma")
      .output("y")
      .observes("y", kCounts)
      .optional_parameter("exposure", 1.0, above(0), finite())
      .log_integral([](auto m, auto p) { return PoissonDraw::log_integral(m, p[0]); })
      .message<&PoissonDraw::to_rate>(kExact, "rate")
      .only_if_observed("y");
}

}  // namespace dma
