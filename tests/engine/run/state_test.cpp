#include "engine/run/state.h"

#include <doctest/doctest.h>

#include <vector>

#include "engine/compile/compile.h"
#include "engine/run/run.h"
#include "engine/support/error.h"
#include "factors/standard_registry.h"
#include "schedules/flooding.h"
#include "schedules/forward_backward.h"
#include "schedules/residual.h"
#include "schedules/sequential.h"
#include "tests/oracles/messages_agree.h"

namespace {

using namespace dma;

constexpr double kTolerance = 1e-14;

std::vector<Scheduler> all_rules() { return {forward_backward(), flooding(), sequential(), residual()}; }

}  // namespace

TEST_CASE("state: a belief counts every message at the variable once, however the factors are grouped") {
  // The two scalar priors on x are merged into one group around a factor of another kind.
  Graph g;
  const auto x = g.variable("x"), y = g.observed("y");
  g.factor("gaussian_prior", {x}, {{"mean", 1.0}, {"variance", 2.0}});
  g.factor("gaussian_noise", {x, y}, {{"variance", 0.5}});
  g.factor("gaussian_prior", {x}, {{"mean", -3.0}, {"variance", 4.0}});
  const Gaussian truth(1.0 / 2 + 5.0 / 0.5 - 3.0 / 4, 1.0 / 2 + 1 / 0.5 + 1.0 / 4);
  for (const Scheduler& rule : all_rules()) {
    const Plan plan = compile(g, rule, standard_registry());
    State state(plan);
    state.observe(y, 5.0);
    run(plan, state);
    CAPTURE(rule.name);
    CHECK(oracle::distance(state.belief(x)[0], truth) <= kTolerance);
  }
}

TEST_CASE("state: beliefs of a graph without observed variables count its first messages too") {
  Graph g;
  const auto x = g.variable("x", 4), y = g.variable("y", 8);
  const std::vector<double> means{1, 2, 3, 4};
  g.factor("gaussian_prior", {x}, {{"mean", means}, {"variance", 1.0}});
  g.factor("gaussian_noise", {column(x), y}, {{"variance", 1.0}});
  for (const Scheduler& rule : all_rules()) {
    const Plan plan = compile(g, rule, standard_registry());
    State state(plan);
    run(plan, state);
    CAPTURE(rule.name);
    for (std::size_t i = 0; i < 8; ++i) {
      CHECK(oracle::distance(state.belief(x)[i % 4], Gaussian::from_moments(means[i % 4], 1)) <= kTolerance);
      CHECK(oracle::distance(state.belief(y)[i], Gaussian::from_moments(means[i % 4], 2)) <= kTolerance);
    }
  }
}

TEST_CASE("state: an observed variable's belief is its value, and prints as such") {
  Graph g;
  const auto x = g.variable("x", 2), y = g.observed("y", 2), l = g.observed("l", 1, Family::log_normal),
             e = g.variable("e");
  g.factor("gaussian_noise", {x, y}, {{"variance", 4.0}});
  g.factor("log_copy", {l, e});
  const Plan plan = compile(g, forward_backward(), standard_registry());
  State state(plan);
  state.observe(y, {2.0, -1.5});
  state.observe(l, 3.0);
  run(plan, state);
  CHECK(state.belief(y).text() == "y ~ = 2, = -1.5");
  CHECK(state.belief(x).text() == "x ~ N(2, 2^2), N(-1.5, 2^2)");
  CHECK(state.belief(l).mean() == doctest::Approx(3.0));
  CHECK(state.belief(e).mean() == doctest::Approx(3.0));
}

TEST_CASE("state: the context of a shared variable takes part as one more message") {
  Graph g;
  const auto w = g.shared("w", 2), y = g.observed("y", 2);
  g.factor("gaussian_noise", {w, y}, {{"variance", 0.5}});
  for (const Scheduler& rule : all_rules()) {
    const Plan plan = compile(g, rule, standard_registry());
    State state(plan);
    state.observe(y, {1.0, 2.0});
    const MessageArrays context = state.context(w);
    context.tau[0] = 3.0, context.rho[0] = 1.5;
    run(plan, state);
    CHECK(oracle::distance(state.belief(w)[0], Gaussian(3.0 + 2.0, 1.5 + 2.0)) <= kTolerance);
    CHECK(oracle::distance(state.belief(w)[1], Gaussian(4.0, 2.0)) <= kTolerance);
    state.reset();
    CHECK(oracle::distance(state.belief(w)[0], Gaussian(3.0, 1.5)) <= kTolerance);
  }
}

TEST_CASE("state: a plan's unobserved variables are predicted instead of asked for") {
  Graph g;
  const auto x = g.variable("x"), y = g.observed("y");
  g.factor("gaussian_prior", {x}, {{"mean", 1.0}, {"variance", 2.0}});
  g.factor("gaussian_noise", {x, y}, {{"variance", 0.5}});
  const Plan plan = compile(g, forward(), standard_registry(), {.unobserved = {y}});
  State state(plan);
  run(plan, state);
  CHECK(oracle::distance(state.belief(y)[0], Gaussian::from_moments(1.0, 2.5)) <= kTolerance);
}

TEST_CASE("state: factors that started with the same number are set one by one") {
  for (const double second : {1.0, 2.0}) {
    Graph g;
    const auto x = g.variable("x"), y = g.variable("y");
    const FactorId first = g.factor("gaussian_prior", {x}, {{"mean", 0.0}, {"variance", 1.0}});
    g.factor("gaussian_prior", {y}, {{"mean", 0.0}, {"variance", second}});
    const Plan plan = compile(g, forward_backward(), standard_registry());
    State state(plan);
    state.set_parameter(first, "variance", 9.0);
    run(plan, state);
    CHECK(state.belief(x).sd(0) == doctest::Approx(3.0));
    CHECK(state.belief(y)[0].variance() == doctest::Approx(second));
    CHECK_THROWS_WITH_AS(state.set_parameter(first, "variance", std::vector<double>{1.0, 2.0}),
                         "factor 'gaussian_prior0': parameter 'variance' takes 1 value, not 2", Error);
  }
}

TEST_CASE("state: a parameter of a factor that was fused is refused with the way out") {
  Graph g;
  const auto w = g.variable("w", 2), x = g.observed("x", 2), p = g.variable("p", 2), z = g.variable("z");
  g.factor("gaussian_prior", {w}, {{"mean", 0.0}, {"variance", 1.0}});
  g.factor("product", {w, x, p});
  const FactorId sum = g.factor("sum", {p, z});
  const Plan plan = compile(g, forward_backward(), standard_registry());
  State state(plan);
  CHECK_THROWS_WITH_AS(state.set_parameter(sum, "coefficients", 2.0),
                       "factor 'product1+sum2' is fused and has no parameter 'coefficients'; compile with {.fuse = false} "
                       "to set it",
                       Error);
}
