#include "factors/likelihoods/counts.h"

#include <cmath>
#include <numbers>

#include "engine/support/special_functions.h"
#include "factors/authoring/from_function.h"

namespace dma {

namespace {

bool is_count(double y, double most = kInfinity) { return y >= 0 && y <= most && y == std::floor(y); }

double log_1_plus_exp(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }

constexpr double kTwoPi = 2 * std::numbers::pi;

// Factorials of large counts would cancel against powers of the mean. By Stirling's formula, the remainder of both are
// deviances y (exp(t) - 1 - t), where t = log(expected / y).
double deviance(double y, double t) { return y * (std::expm1(t) - t); }

// (y + z)! / (y! z!) p^y (1 - p)^z for p with these log odds; y and z are above 0, and need not be whole.
double log_share(double y, double z, double log_odds) {
  return 0.5 * std::log((y + z) / y / z / kTwoPi) + stirling_rest(y + z) - stirling_rest(y) - stirling_rest(z) -
         deviance(y, std::log1p(z / y) - log_1_plus_exp(-log_odds)) -
         deviance(z, std::log1p(y / z) - log_1_plus_exp(log_odds));
}

// A count of mean r exp(log_odds) whose rate is gamma with shape r.
double log_gamma_poisson(double y, double log_r, double log_odds) {
  const double r = std::exp(log_r);
  if (y == 0) return -r * log_1_plus_exp(log_odds);
  constexpr double kNearly0 = 1e-20;  // this omits terms of relative order r
  if (r < kNearly0) return log_r - std::log(y) - y * log_1_plus_exp(-log_odds);
  return log_r - std::log(y + r) + log_share(y, r, log_odds);
}

const Domain kCounts = at_least(0) & finite() & whole();

}  // namespace

double Poisson::log_density(double x, double y, std::span<const double> exposure) {
  const double log_mean = x + std::log(exposure[0]);
  if (!is_count(y)) return -kInfinity;
  if (y == 0) return -std::exp(log_mean);
  return -deviance(y, log_mean - std::log(y)) - 0.5 * std::log(kTwoPi * y) - stirling_rest(y);
}

double Binomial::log_density(double x, double y, std::span<const double> p) {
  const double n = p[0];
  if (!is_count(y, n)) return -kInfinity;
  if (y == 0) return -n * log_1_plus_exp(x);
  return y == n ? -n * log_1_plus_exp(-x) : log_share(y, n - y, x);
}

// Two counts whose rates are gamma with shapes a and b, given their sum: the odds cancel, so use those expected.
double BetaBinomial::log_density(double x, double y, std::span<const double> p) {
  const double n = p[0], log_c = std::log(p[1]), log_odds = std::log(n) - log_c;
  if (!is_count(y, n)) return -kInfinity;
  return log_gamma_poisson(y, log_c - log_1_plus_exp(-x), log_odds) +
         log_gamma_poisson(n - y, log_c - log_1_plus_exp(x), log_odds) - log_gamma_poisson(n, log_c, log_odds);
}

double NegativeBinomial::log_density(double x, double y, std::span<const double> p) {
  if (!is_count(y)) return -kInfinity;
  return log_gamma_poisson(y, std::log(p[0]), x + std::log(p[1] / p[0]));
}

Kind poisson_kind() {
  return likelihood_from_log_density("poisson", &Poisson::log_density, "y counts events of rate exposure exp(x)",
                                     {{"exposure", above(0) & finite(), 1.0}}, true)
      .observes("y", kCounts);
}

Kind binomial_kind() {
  return likelihood_from_log_density("binomial", &Binomial::log_density,
                                     "y of the trials succeed, each with probability 1 / (1 + exp(-x))",
                                     {{"trials", at_least(1) & finite() & whole()}}, true)
      .observes("y", kCounts);
}

Kind beta_binomial_kind() {
  return likelihood_from_log_density(
             "beta_binomial", &BetaBinomial::log_density,
             "y of the trials succeed, with a probability that varies around 1 / (1 + exp(-x))",
             {{"trials", at_least(1) & finite() & whole()}, {"concentration", above(0) & finite()}})
      .observes("y", kCounts);
}

Kind negative_binomial_kind() {
  return likelihood_from_log_density(
             "negative_binomial", &NegativeBinomial::log_density,
             "y counts events of a rate that varies around exposure exp(x), more so for a small shape",
             {{"shape", above(0) & finite()}, {"exposure", above(0) & finite(), 1.0}}, true)
      .observes("y", kCounts);
}

// An unknown count gives no information.
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
