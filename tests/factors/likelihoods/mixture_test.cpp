#include "factors/likelihoods/mixture.h"

#include "tests/oracles/solved.h"

namespace {

double density_at(double x, double mean, double variance) {
  return std::exp(log_density(Gaussian::from_moments(mean, variance), x));
}

}  // namespace

TEST_CASE("mixture: the source of a number among two known Gaussians, by Bayes' rule") {
  Graph g;
  const auto z = g.variable("z", 1, "categorical(2)"), m = g.observed("m", 2), y = g.observed("y");
  g.factor("categorical_prior", {z}, {{"probability", {0.3, 0.7}}});
  g.factor("mixture", {z, m, y}, {{"variance", {1.0, 4.0}}}, {.method = "ep"});
  const auto [plan, state, report] =
      oracle::solved(compile(g, forward_backward(), standard_registry()), {{m, {-1.0, 2.0}}, {y, 0.4}});
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
  const auto [plan, state, report] = oracle::solved(compile(g, forward_backward(), standard_registry()), {{seen, 0.8}});
  CHECK(report.faults == 0);
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

TEST_CASE("mixture: a message to a mean that EP cannot send is replaced, and the report counts it") {
  // With a value at 6, either mean may be there: the tilted variance of each, a mixture of 0 and 6, exceeds its
  // prior's.
  Graph g;
  const auto z = g.variable("z", 1, "categorical(2)"), m = g.variable("m", 2), y = g.observed("y");
  g.factor("categorical_prior", {z}, {{"probability", {0.5, 0.5}}});
  g.factor("gaussian_prior", {m}, {{"mean", 0.0}, {"variance", 9.0}});
  g.factor("mixture", {z, m, y}, {{"variance", 1.0}}, {.method = "ep"});
  auto [plan, state, far] = oracle::solved(compile(g, forward_backward(), standard_registry()), {{y, 6}});
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
  const auto [plan, state, report] = oracle::solved(compile(g, forward_backward(), standard_registry()), {{seen, y}});
  CHECK(report.faults == 0);
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
