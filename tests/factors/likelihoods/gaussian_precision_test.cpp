#include "factors/likelihoods/gaussian_precision.h"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <random>
#include <vector>

#include "engine/compile/compile.h"
#include "engine/run/evidence.h"
#include "engine/run/run.h"
#include "factors/standard_registry.h"
#include "schedules/flooding.h"
#include "schedules/sequential.h"

namespace {

using namespace dma;

struct Moments1 {
  double mass = 0, mean = 0, variance = 0, mean_log = 0;
};

// Of exp(log_f(w)), w > 0, by the trapezoidal rule in log w.
Moments1 moments_of(const std::function<double(double)>& log_f) {
  Moments1 m;
  double square = 0;
  for (double u = -25; u < 25; u += 0.005) {
    const double w = std::exp(u), p = std::exp(log_f(w)) * w * 0.005;
    m.mass += p, m.mean += p * w, square += p * w * w, m.mean_log += p * u;
  }
  m.mean /= m.mass, m.mean_log /= m.mass;
  m.variance = square / m.mass - m.mean * m.mean;
  return m;
}

}  // namespace

TEST_CASE("gaussian_precision: one value gives the precision its exact mean and mean log, and the exact evidence") {
  const Gaussian mean = Gaussian::from_moments(0.5, 0.3), value = Gaussian::point(2.0);
  const Gamma prior = Gamma::from_shape_and_rate(2.5, 1.5);
  const auto exact = moments_of([&](double w) {
    return log_density(Gaussian::from_moments(0.5, 0.3 + 1 / w), 2.0) + 1.5 * std::log(w) - 1.5 * w - prior.log_normaliser();
  });
  const Gamma own = GaussianPrecision::Ep::to_precision(mean, prior, value);
  const Gamma belief(own.tau + prior.tau, own.rho + prior.rho);
  CHECK(belief.mean() == doctest::Approx(exact.mean).epsilon(1e-9));
  CHECK(belief.mean_log() == doctest::Approx(exact.mean_log).epsilon(1e-9));
  const std::vector<Natural> arrivals = {mean, prior, value};
  CHECK(GaussianPrecision::log_integral(arrivals) == doctest::Approx(std::log(exact.mass)).epsilon(1e-9));
  // The mean, given a value: the tilted moments by a sum over w of Gaussians.
  const Gaussian to_mean = GaussianPrecision::Ep::to_mean(mean, prior, value);
  double mass = 0, first = 0, second = 0;
  for (double u = -25; u < 25; u += 0.005) {
    const double w = std::exp(u);
    const Gaussian given = mean * Gaussian::from_moments(2.0, 1 / w);
    const double p = std::exp(log_density(Gaussian::from_moments(0.5, 0.3 + 1 / w), 2.0) + 2.5 * u - 1.5 * w);
    mass += p, first += p * given.mean(), second += p * (given.variance() + given.mean() * given.mean());
  }
  CHECK((to_mean * mean).mean() == doctest::Approx(first / mass).epsilon(1e-9));
  CHECK((to_mean * mean).variance() == doctest::Approx(second / mass - first * first / mass / mass).epsilon(1e-9));
}

TEST_CASE("gaussian_precision: known precision is gaussian_noise, and nothing known says nothing") {
  const Gaussian x = Gaussian::from_moments(1, 2), y = Gaussian::from_moments(3, 0.5);
  const Gamma known(4.0, kInfinity);
  const Gaussian ep = GaussianPrecision::Ep::to_value(x, known, y);
  CHECK(ep.mean() == doctest::Approx(1));
  CHECK(ep.variance() == doctest::Approx(2.25));
  CHECK(GaussianPrecision::Ep::to_value(Gaussian::uniform(), known, y).is_uniform());
  CHECK(GaussianPrecision::Vmp::to_value(Gaussian::uniform(), known, y).is_uniform());
  CHECK(GaussianPrecision::Vmp::to_value(x, Gamma(), Gaussian::uniform()).is_uniform());
  CHECK(GaussianPrecision::Ep::to_precision(x, Gamma(2, 3), Gaussian::uniform()).is_uniform());
}

TEST_CASE("gaussian_precision: vmp of a sample with unknown mean and precision reaches the textbook's fixed point") {
  const std::vector<double> data = {1.2, 0.7, 2.1, 1.6, 0.9};
  Graph g;
  const auto m = g.variable("m"), w = g.variable("w", 1, "gamma"), y = g.observed("y", data.size());
  g.factor("gaussian_prior", {m}, {{"mean", 0.0}, {"variance", 100.0}});
  g.factor("gamma_prior", {w}, {{"shape", 1.0}, {"rate", 0.5}});
  g.factor("gaussian_precision", {all_to_one(m), all_to_one(w), y}, {}, {.method = "vmp"});
  const Plan plan = compile(g, flooding({.tolerance = 1e-12, .limit = 2000, .damping = 0.2}), standard_registry());
  State state(plan);
  state.observe(y, data);
  CHECK(run(plan, state).converged());
  double mean = 0, variance = 1, precision = 1;  // coordinate ascent, Bishop (10.26) to (10.33)
  for (int i = 0; i < 2000; ++i) {
    double sum = 0, squares = 0;
    for (const double x : data) sum += x;
    variance = 1 / (0.01 + 5 * precision), mean = variance * precision * sum;
    for (const double x : data) squares += (x - mean) * (x - mean) + variance;
    precision = (1 + 2.5) / (0.5 + 0.5 * squares);
  }
  CHECK(state.belief(m).mean() == doctest::Approx(mean).epsilon(1e-8));
  CHECK(state.belief(m).variance() == doctest::Approx(variance).epsilon(1e-8));
  CHECK(state.belief(w).mean() == doctest::Approx(precision).epsilon(1e-8));
}

TEST_CASE("gaussian_precision: regression with unknown precision: means and variances within 2 % of quadrature") {
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  const std::size_t n = 30;
  std::vector<double> x, y;
  for (std::size_t i = 0; i < n; ++i) x.push_back(normal(random)), y.push_back(1.5 * x[i] + 0.7 * normal(random));
  Graph g;
  const auto slope = g.variable("slope"), w = g.variable("w", 1, "gamma"), xs = g.observed("x", n);
  const auto line = g.variable("line", n), ys = g.observed("y", n);
  g.factor("gaussian_prior", {slope}, {{"mean", 0.0}, {"variance", 4.0}});
  g.factor("gamma_prior", {w}, {{"shape", 2.0}, {"rate", 1.0}});
  g.factor("product", {all_to_one(slope), xs, line});
  g.factor("gaussian_precision", {line, all_to_one(w), ys});
  const Plan plan = compile(g, flooding({.tolerance = 1e-8, .limit = 500, .damping = 0.5}), standard_registry(),
                            {.kind_methods = {{"gaussian_precision", "ep"}}});
  State state(plan);
  state.observe(xs, x);
  state.observe(ys, y);
  CHECK(run(plan, state).converged());
  // Given w the slope is Gaussian; then one integral over w.
  double xx = 0, xy = 0, yy = 0;
  for (std::size_t i = 0; i < n; ++i) xx += x[i] * x[i], xy += x[i] * y[i], yy += y[i] * y[i];
  const auto log_p = [&](double v) {
    const double rho = 0.25 + v * xx, tau = v * xy;
    return std::log(v) - v + 15 * std::log(v / (2 * M_PI)) - 0.5 * v * yy + 0.5 * tau * tau / rho - 0.5 * std::log(4 * rho);
  };
  const Moments1 exact = moments_of(log_p);
  double mean = 0, square = 0;
  for (double u = -25; u < 25; u += 0.005) {
    const double v = std::exp(u), p = std::exp(log_p(v)) * v * 0.005 / exact.mass, rho = 0.25 + v * xx, m = v * xy / rho;
    mean += p * m, square += p * (1 / rho + m * m);
  }
  CHECK(state.belief(slope).mean() == doctest::Approx(mean).epsilon(0.02));
  CHECK(state.belief(slope).variance() == doctest::Approx(square - mean * mean).epsilon(0.02));
  CHECK(state.belief(w).mean() == doctest::Approx(exact.mean).epsilon(0.02));
  CHECK(state.belief(w).variance() == doctest::Approx(exact.variance).epsilon(0.02));
  CHECK(std::abs(log_evidence(plan, state) - std::log(exact.mass)) < 0.05);
}
