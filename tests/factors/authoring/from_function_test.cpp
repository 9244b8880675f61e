#include "factors/authoring/from_function.h"

#include <doctest/doctest.h>

#include <cmath>

#include "engine/compile/compile.h"
#include "engine/joint/joint.h"
#include "engine/kinds/evaluate.h"
#include "engine/run/run.h"
#include "factors/arithmetic/leaky_relu_linearised.h"
#include "factors/arithmetic/product_linearised.h"
#include "factors/standard_registry.h"
#include "schedules/forward_backward.h"
#include "tests/oracles/matched.h"

namespace {

using namespace dma;

Gaussian message(const Kind& kind, std::size_t target, const std::vector<Gaussian>& arrivals) {
  Arrivals all;
  for (const Gaussian& a : arrivals) all.push_back({a});
  return Gaussian(evaluate(kind, "linearised", target, all).value()[0]);
}

void check_equal(const Gaussian& a, const Gaussian& b, double tolerance) {
  CHECK(a.rho == doctest::Approx(b.rho).epsilon(tolerance));
  CHECK(a.tau == doctest::Approx(b.tau).epsilon(tolerance));
}

}  // namespace

TEST_CASE("from_function: softplus has the moments that adaptive quadrature gives") {
  const auto softplus = [](double x) { return std::log1p(std::exp(x)); };
  const Kind kind = factor_from_function("softplus", softplus);
  for (const double mean : {-3.0, 0.0, 2.0})
    for (const double variance : {0.1, 1.0, 4.0}) {
      const Gaussian x = Gaussian::from_moments(mean, variance);
      const double expected = oracle::expectation(softplus, x);
      const double spread = oracle::expectation([&](double t) { return std::pow(softplus(t) - expected, 2); }, x);
      check_equal(message(kind, 1, {x, {}}), Gaussian::from_moments(expected, spread), 1e-8);
    }
}

TEST_CASE("from_function: x y gives the closed-form linearised product messages where z adds nothing to the belief") {
  const Kind kind = factor_from_function("times", [](double a, double b) { return a * b; });
  const Gaussian x = Gaussian::from_moments(1.5, 0.7), y = Gaussian::from_moments(-2, 0.4),
                 z = Gaussian::from_moments(1, 1e9);
  check_equal(message(kind, 2, {x, y, z}), ProductLinearised::to_z(x, y), 1e-12);
  check_equal(message(kind, 0, {x, y, z}), ProductLinearised::to_factor(x, y, z), 1e-6);
  check_equal(message(kind, 1, {x, y, z}), ProductLinearised::to_factor(y, x, z), 1e-6);
  const Gaussian known = Gaussian::point(3), near = Gaussian::from_moments(1, 2);
  check_equal(message(kind, 0, {x, known, near}), ProductLinearised::to_factor(x, known, near), 1e-9);
}

TEST_CASE("from_function: it is linearised where the belief is, not where x alone would be") {
  Registry registry = standard_registry();
  registry.add(factor_from_function("exp", [](double x) { return std::exp(x); }));
  for (const double sd : {0.1, 0.5}) {
    Graph g;
    const VariableId x = g.variable("x"), e = g.variable("e"), y = g.observed("y");
    g.factor("gaussian_prior", {x}, {{"mean", 0.0}, {"variance", 4.0}});
    g.factor("exp", {x, e});
    g.factor("gaussian_noise", {e, y}, {{"variance", sd * sd}});
    const Plan plan = compile(g, forward_backward(), registry);
    State state(plan);
    state.observe(y, 3.0);
    CHECK(run(plan, state).faults == 0);
    const auto exact = oracle::matched([&](double t) { return std::exp(-0.5 * std::pow((std::exp(t) - 3) / sd, 2)); },
                                       Gaussian::from_moments(0, 4), std::log(3.0));
    CHECK(std::abs(state.belief(x).mean() - exact.mean) < (sd == 0.1 ? 0.05 : 0.2) * std::sqrt(exact.variance));
    CHECK(state.belief(x).variance() == doctest::Approx(exact.variance).epsilon(sd == 0.1 ? 0.01 : 0.15));
  }
}

TEST_CASE("from_function: a sharp output fixes its input, on either side of the prior") {
  const Kind kind = factor_from_function("cube", [](double x) { return x * x * x + x; });
  for (const double x : {-2.0, 0.1, 5.0}) {
    const Gaussian to_x = message(kind, 0, {Gaussian::from_moments(0, 4), Gaussian::point(x * x * x + x)});
    CHECK(to_x.mean() == doctest::Approx(x).epsilon(1e-6));
    CHECK(to_x.sd() < 1e-5);
  }
}

TEST_CASE("from_function: parameters by slot reach the function, its messages and the joint solver") {
  Registry registry = standard_registry();
  registry.add(factor_from_function("line", [](double x, std::span<const double> p) { return p[0] * x + p[1]; },
                                    "y = a x + b", {{"a", finite()}, {"b", finite(), 0.0}}));
  Graph g;
  const VariableId x = g.variable("x", 2), m = g.variable("m", 2), y = g.observed("y", 2);
  g.factor("gaussian_prior", {x}, {{"mean", 1.0}, {"variance", 2.0}});
  g.factor("line", {x, m}, {{"a", std::vector<double>{2, -3}}, {"b", 0.5}});
  g.factor("gaussian_noise", {m, y}, {{"variance", 0.7}});
  for (const bool by_joint : {false, true}) {
    const Plan plan = by_joint ? compile(g, joint(), registry) : compile(g, forward_backward(), registry);
    State state(plan);
    state.observe(y, {4.0, -1.0});
    (void)run(plan, state);
    for (std::size_t i = 0; i < 2; ++i) {
      const double a = i == 0 ? 2 : -3, off = (i == 0 ? 4.0 : -1.0) - 0.5, precision = 1 / 2.0 + a * a / 0.7;
      CHECK(state.belief(x).variance(i) == doctest::Approx(1 / precision).epsilon(1e-8));
      CHECK(state.belief(x).mean(i) == doctest::Approx((1 / 2.0 + a * off / 0.7) / precision).epsilon(1e-8));
    }
  }
}

TEST_CASE("from_function: three inputs of a linear function are exact both ways") {
  const Kind kind = factor_from_function("plane", [](double a, double b, double c) { return a - 2 * b + 0.5 * c; });
  const Gaussian a = Gaussian::from_moments(1, 1), b = Gaussian::from_moments(2, 0.5),
                 c = Gaussian::from_moments(-1, 2);
  const Gaussian y = Gaussian::from_moments(0.3, 0.1);
  check_equal(message(kind, 3, {a, b, c, y}), Gaussian::from_moments(1 - 4 - 0.5, 1 + 4 * 0.5 + 0.25 * 2), 1e-12);
  check_equal(message(kind, 1, {a, b, c, y}), Gaussian::from_moments((0.3 - 1 + 0.5) / -2, (0.1 + 1 + 0.25 * 2) / 4),
              1e-12);
}

TEST_CASE("from_function: a user's factor runs in a graph of the standard registry under every method") {
  Registry registry = standard_registry();
  registry.add(factor_from_function("squared", [](double x) { return x * x; }));
  Graph g;
  const VariableId x = g.variable("x", 3), s = g.variable("s", 3), y = g.observed("y", 3);
  g.factor("gaussian_prior", {x}, {{"mean", 2.0}, {"variance", 0.1}});
  g.factor("squared", {x, s});
  g.factor("gaussian_noise", {s, y}, {{"variance", 0.01}});
  for (const char* method : {"dma", "ep", "linearised", "hybrid"}) {
    const Plan plan = compile(g, forward_backward(), registry, {.method = method});
    State state(plan);
    state.observe(y, {4.0, 4.4, 3.6});
    CHECK(run(plan, state).faults == 0);
    CHECK(state.belief(x).mean(1) == doctest::Approx(2.1).epsilon(0.02));
    CHECK(state.belief(x).mean(2) < state.belief(x).mean(0));
  }
}

TEST_CASE("from_function: where the function is not a number, messages are refused and the run says so") {
  Registry registry = standard_registry();
  registry.add(factor_from_function("root", [](double x) { return std::sqrt(x); }));
  const auto faults_with_prior_at = [&](double mean) {
    Graph g;
    const auto x = g.variable("x"), z = g.variable("z"), y = g.observed("y");
    g.factor("gaussian_prior", {x}, {{"mean", mean}, {"variance", 0.01}});
    g.factor("root", {x, z});
    g.factor("gaussian_noise", {z, y}, {{"variance", 1.0}});
    const Plan plan = compile(g, forward_backward(), registry);
    State state(plan);
    state.observe(y, 2.0);
    const Report report = run(plan, state);
    CHECK(report.converged() == (mean > 0));
    return report.faults;
  };
  CHECK(faults_with_prior_at(4.0) == 0);
  CHECK(faults_with_prior_at(-4.0) == 2);  // to z, and back to x
}
