// A Model is a way to write a Graph: the same factors, the same answers.
#include "models/graphs/model.h"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>

#include "engine/support/text.h"
#include "factors/authoring/from_function.h"
#include "schedules/schedules.h"
#include "tests/oracles/relative.h"

namespace {

using namespace dma;

// E[f(x)] of x ~ N(mean, sd^2) given g(x) = y +- noise_sd, on a grid.
double posterior_mean(double mean, double sd, const std::function<double(double)>& g, double y, double noise_sd) {
  double mass = 0, sum = 0;
  for (double x = mean - 8 * sd; x <= mean + 8 * sd; x += sd / 500) {
    const double u = (x - mean) / sd, r = (g(x) - y) / noise_sd, weight = std::exp(-0.5 * (u * u + r * r));
    if (!std::isfinite(weight)) continue;
    mass += weight, sum += weight * x;
  }
  return sum / mass;
}

}  // namespace

TEST_CASE("model: parcels on two scales are the graph that is written by hand") {
  Model m;
  const auto weight = m.gaussian("weight", 3, {.mean = 4, .sd = 3});
  const auto offset = m.gaussian("offset", 2, {.variance = 0.25});
  const std::vector<double> readings{2.1, 3.0, 5.2, 2.6, 3.4, 8.9};
  m.observe(weight[{0, 1, 2, 0, 1, 2}] + offset[{0, 0, 0, 1, 1, 1}], readings, noise({.sd = 0.2}));
  Graph g;
  const auto w = g.variable("weight", 3), o = g.variable("offset", 2), shown = g.variable("shown", 6),
             seen = g.observed("seen", 6);
  g.factor("gaussian_prior", {w}, {{"mean", 4.0}, {"variance", 9.0}});
  g.factor("gaussian_prior", {o}, {{"mean", 0.0}, {"variance", 0.25}});
  g.factor("sum", {gather(w, {0, 1, 2, 0, 1, 2}), gather(o, {0, 0, 0, 1, 1, 1}), shown});
  g.factor("gaussian_noise", {shown, seen}, {{"variance", 0.04}});
  const Answer answer = solve(m), by_hand = solve(g, {{seen, readings}});
  CHECK(answer.solver == "joint");
  CHECK(answer.evidence().log_value == doctest::Approx(by_hand.evidence().log_value));
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(answer[weight].means()[i] == doctest::Approx(by_hand[w].means()[i]));
    CHECK(answer[weight].variances()[i] == doctest::Approx(by_hand[w].variances()[i]));
  }
  CHECK(solve(m, flooding()).solver == "flooding");
}

TEST_CASE("model: every operator computes what it says") {
  // Noise so narrow that the posterior mean solves g(x) = y but for the curvature that the grid knows too.
  constexpr double kMean = 1.5, kSd = 0.3, kNoise = 0.01;
  const auto check = [](auto expression, const std::function<double(double)>& g) {
    Model m;
    const auto x = m.gaussian("x", 1, {.mean = kMean, .sd = kSd});
    const double y = g(1.7);
    m.observe(expression(x), {y}, noise({.sd = kNoise}));
    const double truth = posterior_mean(kMean, kSd, g, y, kNoise);
    CHECK(solve(m, joint())[x].mean() == oracle::relative(truth, 1e-3));
  };
  check([](const Expression& x) { return x + 2.0; }, [](double x) { return x + 2; });
  check([](const Expression& x) { return 2.0 - x; }, [](double x) { return 2 - x; });
  check([](const Expression& x) { return -x; }, [](double x) { return -x; });
  check([](const Expression& x) { return 3.0 * x - 1.0; }, [](double x) { return 3 * x - 1; });
  check([](const Expression& x) { return x / 4.0; }, [](double x) { return x / 4; });
  check([](const Expression& x) { return x * x; }, [](double x) { return x * x; });
  check([](const Expression& x) { return pow(x, 3); }, [](double x) { return x * x * x; });
  check([](const Expression& x) { return exp(x) - x; }, [](double x) { return std::exp(x) - x; });
  check([](const Expression& x) { return log(x); }, [](double x) { return std::log(x); });
  check([](const Expression& x) { return exp(x) / (x + 2.0); }, [](double x) { return std::exp(x) / (x + 2); });
  check([](const Expression& x) { return 3.0 / (x + 2.0); }, [](double x) { return 3 / (x + 2); });
  check([](const Expression& x) { return exp(x) * x; }, [](double x) { return std::exp(x) * x; });
  check([](const Expression& x) { return sum(3.0 * x); }, [](double x) { return 3 * x; });
}

TEST_CASE("model: likelihoods by name, priors of any family, functions of one's own") {
  Model m;
  const auto rate = m.gaussian("log_rate", 1, {.mean = 1, .sd = 1});
  m.observe(rate, {4}, likelihood("poisson"));
  // The posterior of log_rate on a grid: N(1, 1) times exp(4 x - e^x).
  double mass = 0, sum = 0;
  for (double x = -6; x <= 6; x += 1e-3) {
    const double weight = std::exp(-0.5 * (x - 1) * (x - 1) + 4 * x - std::exp(x));
    mass += weight, sum += weight * x;
  }
  CHECK(solve(m)[rate].mean() == oracle::relative(sum / mass, 1e-2));

  Model coins;
  const auto chance = coins.prior("beta_prior", "chance", 1, {{"a", 2.0}, {"b", 2.0}});
  coins.observe(chance, {1}, likelihood("bernoulli_draw"));
  CHECK(solve(coins)[chance].mean() == doctest::Approx(3.0 / 5));

  Model bent;
  const auto x = bent.gaussian("x", 1, {.sd = 0.3});
  const auto bend = [](double v) { return std::tanh(v); };
  bent.observe(bent.apply(factor_from_function("tanh", bend), {x}), {0.2}, noise({.sd = 0.05}));
  CHECK(solve(bent)[x].mean() == oracle::relative(posterior_mean(0, 0.3, bend, 0.2, 0.05), 1e-2));
}

TEST_CASE("model: mistakes are named") {
  Model m, other;
  const auto a = m.gaussian("a", 3), b = m.gaussian("b", 2), c = other.gaussian("c", 3);
  CHECK_THROWS_WITH_AS(a + b, doctest::Contains("'b': 2 elements meet 3"), Error);
  CHECK_THROWS_WITH_AS(a * c, doctest::Contains("'c' is of another model"), Error);
  CHECK_THROWS_WITH_AS(a[{3}], doctest::Contains("'a': element 3 is chosen of 3"), Error);
  CHECK_THROWS_WITH_AS(m.observe(a, {1}, noise({.sd = 1})), doctest::Contains("1 values are given for 3"), Error);
  CHECK_THROWS_WITH_AS(noise({}), doctest::Contains("neither sd nor variance is given"), Error);
  CHECK_THROWS_WITH_AS(noise({.sd = 1, .variance = 1}), doctest::Contains("sd and variance are given"), Error);
  CHECK_THROWS_WITH_AS(m.observe(a, {1, 2, 3}, likelihood("poison")), doctest::Contains("poisson"), Error);
  const Expression some = a[{0, 1}];
  CHECK_THROWS_WITH_AS(static_cast<void>(VariableId(some)), doctest::Contains("some elements of 'a' are no variable"),
                       Error);
}
