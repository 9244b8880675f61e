#include "factors/likelihoods/mixture.h"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <vector>

#include "engine/compile/compile.h"
#include "engine/run/evidence.h"
#include "engine/run/run.h"
#include "factors/standard_registry.h"
#include "schedules/flooding.h"
#include "schedules/forward_backward.h"
#include "tests/oracles/relative.h"

namespace {

using namespace dma;

double density_at(double x, double mean, double variance) {
  return std::exp(log_density(Gaussian::from_moments(mean, variance), x));
}

}  // namespace

TEST_CASE("mixture: the source of a number among two known Gaussians, by Bayes' rule") {
  Graph g;
  const auto z = g.variable("z", 1, "categorical(2)"), m = g.observed("m", 2), y = g.observed("y");
  g.factor("categorical_prior", {z}, {{"probability", {0.3, 0.7}}});
  g.factor("mixture", {z, m, y}, {{"variance", {1.0, 4.0}}}, {.method = "ep"});
  const Plan plan = compile(g, forward_backward(), standard_registry());
  State state(plan);
  state.observe(m, {-1.0, 2.0});
  state.observe(y, 0.4);
  (void)run(plan, state);
  const double a = 0.3 * density_at(0.4, -1, 1), b = 0.7 * density_at(0.4, 2, 4);
  CHECK(state.belief(z).mean(0, 1) == oracle::relative(b / (a + b), 1e-13));
  CHECK(log_evidence(plan, state) == oracle::relative(std::log(a + b), 1e-13));
}

TEST_CASE("mixture: means and value have the moments of the tilted distribution, by quadrature") {
  Graph g;
  const auto z = g.variable("z", 1, "categorical(2)"), m = g.variable("m", 2), y = g.variable("y"),
             seen = g.observed("seen");
  g.factor("categorical_prior", {z}, {{"probability", {0.4, 0.6}}});
  g.factor("gaussian_prior", {m}, {{"mean", {-1.0, 2.0}}, {"variance", {0.5, 1.5}}});
  g.factor("mixture", {z, m, y}, {{"variance", {1.0, 0.3}}}, {.method = "ep"});
  g.factor("gaussian_noise", {y, seen}, {{"variance", 0.7}});
  const Plan plan = compile(g, forward_backward(), standard_registry());
  State state(plan);
  state.observe(seen, 0.8);
  CHECK(run(plan, state).faults == 0);
  // One mixture factor with everything else exact: EP's beliefs have the exact moments.
  const double w0 = 0.4 * density_at(0.8, -1, 0.5 + 1 + 0.7), w1 = 0.6 * density_at(0.8, 2, 1.5 + 0.3 + 0.7),
               r = w1 / (w0 + w1);
  CHECK(state.belief(z).mean(0, 1) == oracle::relative(r, 1e-12));
  const auto mean_given = [](double prior, double variance, double noise) {
    const double gain = variance / (variance + noise);
    return std::array{prior + gain * (0.8 - prior), variance * (1 - gain)};
  };
  const auto informed = mean_given(2, 1.5, 1.0);
  const double mean = r * informed[0] + (1 - r) * 2,
               square = r * (informed[1] + informed[0] * informed[0]) + (1 - r) * (1.5 + 4);
  CHECK(state.belief(m).mean(1) == oracle::relative(mean, 1e-12));
  CHECK(state.belief(m).variance(1) == oracle::relative(square - mean * mean, 1e-12));
  const auto y0 = mean_given(-1, 1.5, 0.7), y1 = mean_given(2, 1.8, 0.7);
  const double my = r * y1[0] + (1 - r) * y0[0], sy = r * (y1[1] + y1[0] * y1[0]) + (1 - r) * (y0[1] + y0[0] * y0[0]);
  CHECK(state.belief(y).mean() == oracle::relative(my, 1e-12));
  CHECK(state.belief(y).variance() == oracle::relative(sy - my * my, 1e-12));
  CHECK(log_evidence(plan, state) == oracle::relative(std::log(w0 + w1), 1e-12));
}

TEST_CASE("mixture: the means of two clusters are found, and the evidence is close to enumeration") {
  const std::vector<double> data = {-2.1, 1.8, 2.3, -1.7, 2.0, -2.4, 1.6, 2.2};
  const std::size_t n = data.size();
  Graph g;
  const auto z = g.variable("z", n, "categorical(2)"), m = g.variable("m", 2), y = g.observed("y", n);
  g.factor("categorical_prior", {z}, {{"probability", {0.5, 0.5}}});
  g.factor("gaussian_prior", {m}, {{"mean", {-1.0, 1.0}}, {"variance", 1.0}});
  g.factor("mixture", {z, column(m), y}, {{"variance", 0.25}}, {.method = "ep"});
  const Plan plan = compile(g, flooding({.tolerance = 1e-9, .limit = 500, .damping = 0.6}), standard_registry());
  State state(plan);
  state.observe(y, data);
  CHECK(run(plan, state).converged());
  // All 2^8 assignments of the data to clusters, each with Gaussian means in closed form.
  double largest = -kInfinity, sum = 0, low = 0;
  std::vector<double> logs, lows;
  for (std::size_t way = 0; way < (1u << n); ++way) {
    double log_p = -static_cast<double>(n) * std::log(2.0), mean_of_first = 0;
    for (std::size_t k = 0; k < 2; ++k) {
      double m0 = k == 0 ? -1 : 1, v0 = 1;
      for (std::size_t i = 0; i < n; ++i) {
        if ((way >> i & 1) != k) continue;
        log_p += log_density(Gaussian::from_moments(m0, v0 + 0.25), data[i]);
        const double gain = v0 / (v0 + 0.25);
        m0 += gain * (data[i] - m0), v0 *= 1 - gain;
      }
      if (k == 0) mean_of_first = m0;
    }
    logs.push_back(log_p), lows.push_back(mean_of_first);
    largest = std::max(largest, log_p);
  }
  for (std::size_t i = 0; i < logs.size(); ++i)
    sum += std::exp(logs[i] - largest), low += std::exp(logs[i] - largest) * lows[i];
  CHECK(state.belief(m).mean(0) == oracle::relative(low / sum, 0.05));
  CHECK(state.belief(z).mean(1, 1) > 0.99);
  CHECK(std::abs(log_evidence(plan, state) - (largest + std::log(sum))) < 0.3);
  CHECK(!evidence(plan, state).is_exact);
}

TEST_CASE("mixture: a message to a mean that EP cannot send is replaced, and the report counts it") {
  // With a value at 6, either mean may be there: the tilted variance of each, a mixture of 0 and 6, exceeds its
  // prior's.
  Graph g;
  const auto z = g.variable("z", 1, "categorical(2)"), m = g.variable("m", 2), y = g.observed("y");
  g.factor("categorical_prior", {z}, {{"probability", {0.5, 0.5}}});
  g.factor("gaussian_prior", {m}, {{"mean", 0.0}, {"variance", 9.0}});
  g.factor("mixture", {z, m, y}, {{"variance", 1.0}}, {.method = "ep"});
  const Plan plan = compile(g, forward_backward(), standard_registry());
  State state(plan);
  state.observe(y, 6);
  const Report far = run(plan, state);
  CHECK(far.replaced == 2);
  // The replacement: the number's message to the power of the mean's fraction.
  const Gaussian expected = Gaussian::from_moments(0, 9) * Gaussian::from_moments(6, 2);
  CHECK(state.belief(m).mean(0) == oracle::relative(expected.mean(), 1e-12));
  CHECK(state.belief(m).variance(1) == oracle::relative(expected.variance(), 1e-12));
  state.observe(y, 0.1);
  CHECK(run(plan, state).replaced == 0);
}

TEST_CASE(
    "mixture: categories whose weights differ by more than a double can hold are still told apart, by Bayes' rule") {
  // The first number favours category 0 by 900 nats, the second category 1 by 2500: each alone underflows.
  const double apart = std::sqrt(1800.0);
  Graph g;
  const auto z = g.variable("z", 1, "categorical(2)"), known = g.observed("known", 2), first = g.observed("first"),
             m = g.variable("m", 2), second = g.observed("second");
  g.factor("categorical_prior", {z}, {{"probability", {0.5, 0.5}}});
  g.factor("mixture", {z, known, first}, {{"variance", 1.0}}, {.method = "ep"});
  g.factor("gaussian_prior", {m}, {{"mean", {0.0, 100.0}}, {"variance", 1.0}});
  g.factor("mixture", {z, m, second}, {{"variance", 1.0}}, {.method = "ep"});
  const Plan plan = compile(g, flooding({.limit = 20}), standard_registry());
  State state(plan);
  state.observe(known, {0.0, apart});
  state.observe(first, 0.0);
  state.observe(second, 100.0);
  CHECK(run(plan, state).converged());
  const auto log_of = [&](double of_first, double prior) {
    return std::log(0.5) + log_density(Gaussian::from_moments(of_first, 1), 0) +
           log_density(Gaussian::from_moments(prior, 2), 100);
  };
  const double zero = log_of(0, 0), one = log_of(apart, 100);  // category 1, by 1600 nats
  CHECK(one - zero > 1500);
  CHECK(state.belief(z).mean(0, 1) == 1);
  CHECK(state.belief(m).mean(0) == doctest::Approx(0).epsilon(1e-12));
  CHECK(state.belief(m).variance(0) == oracle::relative(1, 1e-12));
  CHECK(state.belief(m).mean(1) == oracle::relative(100, 1e-12));
  CHECK(state.belief(m).variance(1) == oracle::relative(0.5, 1e-12));
  CHECK(log_evidence(plan, state) == oracle::relative(one, 1e-12));
}

TEST_CASE("normal_mixture: one number, with unknown means and precisions, by quadrature") {
  const double a[] = {3, 2.5}, b[] = {2, 4}, prior[] = {0.3, 1.5}, spread[] = {0.5, 2}, weight[] = {0.4, 0.6}, y = 0.8;
  Graph g;
  const auto z = g.variable("z", 1, "categorical(2)"), m = g.variable("m", 2), w = g.variable("w", 2, "gamma"),
             seen = g.observed("seen");
  g.factor("categorical_prior", {z}, {{"probability", {0.4, 0.6}}});
  g.factor("gaussian_prior", {m}, {{"mean", {0.3, 1.5}}, {"variance", {0.5, 2.0}}});
  g.factor("gamma_prior", {w}, {{"shape", {3.0, 2.5}}, {"rate", {2.0, 4.0}}});
  g.factor("normal_mixture", {z, m, w, seen});
  const Plan plan = compile(g, forward_backward(), standard_registry());
  State state(plan);
  state.observe(seen, y);
  CHECK(run(plan, state).faults == 0);
  // Given the precision everything is Gaussian: sums over a fine grid of its logarithm.
  double mass[2] = {}, mean[2] = {}, square[2] = {}, of_w[2] = {}, of_w2[2] = {}, total = 0;
  for (int k = 0; k < 2; ++k)
    for (double u = -12; u < 6; u += 1e-3) {
      const double x = std::exp(u), v = spread[k] + 1 / x, gain = spread[k] / v,
                   centre = prior[k] + gain * (y - prior[k]);
      const double p = 1e-3 * weight[k] * density_at(y, prior[k], v) *
                       std::exp(a[k] * (u + std::log(b[k])) - b[k] * x - std::lgamma(a[k]));
      mass[k] += p, mean[k] += p * centre, square[k] += p * (centre * centre + spread[k] * (1 - gain));
      of_w[k] += p * x, of_w2[k] += p * x * x;
    }
  total = mass[0] + mass[1];
  CHECK(log_evidence(plan, state) == oracle::relative(std::log(total), 1e-8));
  CHECK(state.belief(z).mean(0, 1) == oracle::relative(mass[1] / total, 1e-8));
  for (std::size_t k = 0; k < 2; ++k) {
    const double rest = 1 - mass[k] / total, expected = mean[k] / total + rest * prior[k],
                 expected_w = of_w[k] / total + rest * a[k] / b[k];
    CHECK(state.belief(m).mean(k) == oracle::relative(expected, 1e-7));
    CHECK(state.belief(m).variance(k) ==
          oracle::relative(square[k] / total + rest * (prior[k] * prior[k] + spread[k]) - expected * expected, 1e-7));
    // EP keeps E[w] and E[log w] of the component's part; the variance then deviates slightly.
    CHECK(state.belief(w).mean(k) == oracle::relative(expected_w, 1e-7));
    CHECK(state.belief(w).variance(k) ==
          oracle::relative(of_w2[k] / total + rest * a[k] * (a[k] + 1) / b[k] / b[k] - expected_w * expected_w, 0.03));
  }
}

TEST_CASE("normal_mixture: clusters far apart are learned as if each had a graph of its own") {
  const std::vector<double> first{-41, -40.2, -39.7, -40.9, -38.8, -40.3}, second{38, 43, 40.5, 41.8, 36.9};
  std::vector<double> all = first;
  all.insert(all.end(), second.begin(), second.end());
  const Registry registry = standard_registry();
  const Scheduler rule = flooding({.tolerance = 1e-9, .limit = 2000, .damping = 0.5});
  Graph g;
  const std::size_t n = all.size();
  const auto z = g.variable("z", n, "categorical(2)"), m = g.variable("m", 2), w = g.variable("w", 2, "gamma"),
             share = g.variable("share", 1, "dirichlet(2)"), y = g.observed("y", n);
  g.factor("gaussian_prior", {m}, {{"mean", {-40.0, 40.0}}, {"variance", 25.0}});  // separates the two
  g.factor("gamma_prior", {w}, {{"shape", 2.0}, {"rate", 3.0}});
  g.factor("dirichlet_prior", {share}, {{"concentration", {1.0, 1.0}}});
  g.factor("categorical_draw", {all_to_one(share), z});
  g.factor("normal_mixture", {{"selector", z}, {"means", column(m)}, {"precisions", column(w)}, {"y", y}});
  const Plan plan = compile(g, rule, registry, {.method = "ep"});
  State state(plan);
  state.observe(y, all);
  const Report report = run(plan, state);
  CAPTURE(report.line());
  CHECK(report.converged());
  CHECK(state.belief(share).mean(0, 0) == oracle::relative(7.0 / 13, 1e-6));
  for (std::size_t k = 0; k < 2; ++k) {
    const std::vector<double>& own = k == 0 ? first : second;
    Graph one;
    const auto mean = one.variable("mean"), precision = one.variable("precision", 1, "gamma"),
               value = one.observed("value", own.size());
    one.factor("gaussian_prior", {mean}, {{"mean", k == 0 ? -40.0 : 40.0}, {"variance", 25.0}});
    one.factor("gamma_prior", {precision}, {{"shape", 2.0}, {"rate", 3.0}});
    one.factor("gaussian_precision", {all_to_one(mean), all_to_one(precision), value});
    const Plan alone = compile(one, rule, registry, {.method = "ep"});
    State of(alone);
    of.observe(value, own);
    CHECK(run(alone, of).converged());
    CHECK(state.belief(m).mean(k) == oracle::relative(of.belief(mean).mean(), 1e-6));
    CHECK(state.belief(m).sd(k) == oracle::relative(of.belief(mean).sd(), 1e-3));
    CHECK(state.belief(w).mean(k) == oracle::relative(of.belief(precision).mean(), 1e-3));
    CHECK(state.belief(w).sd(k) == oracle::relative(of.belief(precision).sd(), 1e-2));
  }
}
