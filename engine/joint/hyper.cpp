#include "engine/joint/joint.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "engine/messages/gaussian.h"
#include "engine/support/special_functions.h"
#include "engine/support/text.h"

namespace dma {

namespace {

double positive(std::string_view prior, std::string_view number, double value) {
  if (!(value > 0 && value < kInfinity)) fail("{}: the {} is {}; a number above 0 is expected", prior, number, value);
  return value;
}

double normal_cdf(double z) { return 0.5 * std::erfc(-z / std::numbers::sqrt2); }

}  // namespace

HyperPrior HyperPrior::half_cauchy(double scale) {
  HyperPrior prior = half_student_t(1, positive("half_cauchy", "scale", scale));
  prior.name = "half_cauchy";
  prior.numbers = {scale};
  return prior;
}

HyperPrior HyperPrior::half_normal(double sd) {
  positive("half_normal", "sd", sd);
  const double log_scale = 0.5 * std::log(2 / std::numbers::pi) - std::log(sd);
  return {"half_normal", {sd}, [=](double x) { return log_scale - 0.5 * (x / sd) * (x / sd); }, sd};
}

HyperPrior HyperPrior::half_student_t(double degrees, double scale) {
  positive("half_student_t", "number of degrees of freedom", degrees);
  positive("half_student_t", "scale", scale);
  const double log_scale =
      std::log(2 / scale) + log_gamma_half_step(0.5 * degrees) - 0.5 * std::log(degrees * std::numbers::pi);
  return {"half_student_t", {degrees, scale},
          [=](double x) { return log_scale - 0.5 * (degrees + 1) * std::log1p(x / scale * (x / scale) / degrees); },
          scale};
}

HyperPrior HyperPrior::gamma(double shape, double rate) {
  positive("gamma", "shape", shape);
  positive("gamma", "rate", rate);
  const double log_scale = shape * std::log(rate) - log_gamma(shape);
  return {"gamma", {shape, rate},
          [=](double x) { return log_scale + (shape - 1) * std::log(x) - rate * x; }, shape / rate};
}

HyperPrior HyperPrior::log_normal(double mean, double sd) {
  positive("log_normal", "sd", sd);
  const double log_scale = -0.5 * std::log(2 * std::numbers::pi) - std::log(sd);
  return {"log_normal", {mean, sd},
          [=](double x) {
            const double z = (std::log(x) - mean) / sd;
            return log_scale - 0.5 * z * z - std::log(x);
          },
          std::exp(mean)};
}

HyperPrior HyperPrior::flat() {
  return {"flat", {}, [](double) { return 0.0; }, 1};
}

HyperPrior HyperPrior::correlation(double shape) {
  constexpr double kAlike = 1e-10;  // 1 - r^2 below which a covariance is singular to rounding: outside of the domain
  positive("correlation", "shape", shape);
  const double log_scale = log_gamma_half_step(shape) - 0.5 * std::log(std::numbers::pi);
  return {"correlation", {shape},
          [=](double r) {
            const double rest = (1 - r) * (1 + r);
            return rest > kAlike ? log_scale + (shape - 1) * std::log(rest) : -kInfinity;
          },
          0, true};
}

double HyperPrior::free_of(double value) const { return is_correlation ? 2 * std::atanh(value) : std::log(value); }
double HyperPrior::value_of(double free) const { return is_correlation ? std::tanh(0.5 * free) : std::exp(free); }
double HyperPrior::log_density_of_free(double free) const {
  const double slope = is_correlation ? -std::log(2.0) - 2 * std::log(std::cosh(0.5 * free)) : free;
  return log_density(value_of(free)) + slope;
}

HyperPrior HyperPrior::named(const std::string& name, std::span<const double> n) {
  const std::vector<std::pair<std::string, std::size_t>> known = {
      {"half_cauchy", 1}, {"half_normal", 1}, {"half_student_t", 2}, {"gamma", 2}, {"log_normal", 2},
      {"correlation", 1}, {"flat", 0}};
  const auto found = std::ranges::find(known, name, &std::pair<std::string, std::size_t>::first);
  if (found == known.end())
    fail("there is no prior '{}'{}", name,
         suggestion(name, known, [](const auto& prior) { return prior.first; }));
  if (n.size() != found->second)
    fail("prior '{}' takes {} number{}, not {}", name, found->second, found->second == 1 ? "" : "s", n.size());
  if (name == "half_cauchy") return half_cauchy(n[0]);
  if (name == "half_normal") return half_normal(n[0]);
  if (name == "half_student_t") return half_student_t(n[0], n[1]);
  if (name == "gamma") return gamma(n[0], n[1]);
  if (name == "correlation") return correlation(n[0]);
  return name == "log_normal" ? log_normal(n[0], n[1]) : flat();
}

Hyper hyper(FactorId factor, std::string_view parameter, HyperPrior prior) {
  return {{}, std::move(prior), {{factor, std::string(parameter)}}};
}

Hyper hyper(std::string name, HyperPrior prior, std::vector<Hyper::Use> uses) {
  return {std::move(name), std::move(prior), std::move(uses)};
}

HyperBelief::HyperBelief(std::vector<double> values, std::vector<double> weights, double step, HyperPrior prior)
    : values_(std::move(values)), weights_(std::move(weights)), step_(step), prior_(std::move(prior)) {}

double HyperBelief::expected(const std::function<double(double)>& of) const {
  double sum = 0;
  for (std::size_t k = 0; k < values_.size(); ++k) sum += weights_[k] * of(values_[k]);
  return sum;
}

double HyperBelief::mean() const {
  return expected([](double x) { return x; });
}

double HyperBelief::sd() const {
  const double m = mean();
  return std::sqrt(expected([m](double x) { return (x - m) * (x - m); }));
}

// Every point is a narrow normal distribution of the free number, half a step wide, shrunk towards the mean so that the
// variance is preserved.
double HyperBelief::quantile(double probability) const {
  if (!(probability > 0 && probability < 1))
    fail("a quantile of {}; a number between 0 and 1 is expected", probability);
  const auto off = [this](double x, double from) { return prior_.free_of(x) - from; };
  const double m = expected([&](double x) { return off(x, 0); });
  const double sd = std::sqrt(expected([&](double x) { return off(x, m) * off(x, m); }));
  const double width = 0.5 * step_, shrunk = std::sqrt(1 - width * width);
  double low = m - 40 * sd, high = m + 40 * sd;
  for (int i = 0; i < 100; ++i) {
    const double t = 0.5 * (low + high);
    const double below =
        expected([&](double x) { return normal_cdf((t - m - shrunk * off(x, m)) / (width * sd)); });
    (below < probability ? low : high) = t;
  }
  return prior_.value_of(0.5 * (low + high));
}

}  // namespace dma
