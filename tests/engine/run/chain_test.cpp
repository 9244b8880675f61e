// Chains written as one plate with shift: exact in one sweep.
#include <doctest/doctest.h>

#include <cmath>
#include <map>

#include "engine/compile/compile.h"
#include "engine/joint/joint.h"
#include "engine/run/run.h"
#include "engine/support/error.h"
#include "factors/standard_registry.h"
#include "schedules/flooding.h"
#include "schedules/forward_backward.h"
#include "tests/oracles/allocations.h"
#include "tests/oracles/dense_gaussian.h"
#include "tests/oracles/kalman.h"
#include "tests/oracles/messages_agree.h"
#include "tests/oracles/random_graphs.h"
#include "tests/oracles/random_messages.h"
#include "tests/oracles/relative.h"
#include "tests/oracles/scalar_graph.h"

namespace {

using namespace dma;

// Both add the same few numbers of size 1 a thousand times.
constexpr double kChainError = 1e-9;

struct Chain {
  Graph graph;
  std::vector<std::size_t> slots;  // slots of its factors
};

std::vector<double> positive(std::size_t count, std::uint64_t seed) {
  oracle::RandomMessages random(seed);
  std::vector<double> out;
  for (std::size_t i = 0; i < count; ++i) out.push_back(random.log_uniform({0.1, 2}));
  return out;
}

// The largest distance between beliefs of the chain and of the same model written out and solved another way.
void check_as_written_out(const Chain& chain, std::uint64_t seed, bool has_points = false) {
  const Plan plan = compile(chain.graph, forward_backward(), standard_registry());
  CAPTURE(describe(plan));
  State state(plan);
  const auto scalar = oracle::written_out(chain.graph, chain.slots);
  std::map<std::uint32_t, double> observed;
  for (std::uint64_t turn = 0; turn < 2; ++turn) {  // the second run must not depend on the first
    const auto values = oracle::random_values(chain.graph, seed + turn);
    for (std::uint32_t v = 0; v < values.size(); ++v)
      if (chain.graph.variables()[v].observed) {
        state.observe(VariableId{v}, values[v]);
        for (std::size_t i = 0; i < values[v].size(); ++i) observed[scalar.elements[v][i].value] = values[v][i];
      }
    const Report report = run(plan, state);
    CHECK(report.stop == Report::Stop::exact);
    CHECK(report.messages == plan.messages_per_sweep());
  }
  const auto dense = has_points ? oracle::DensePosterior() : oracle::dense_posterior(scalar.graph, observed);
  const Plan scalar_plan = compile(scalar.graph, forward_backward(), standard_registry());
  State scalar_state(scalar_plan);
  for (const auto& [v, value] : observed) scalar_state.observe(VariableId{v}, value);
  CHECK(run(scalar_plan, scalar_state).stop == Report::Stop::exact);
  for (std::uint32_t v = 0; v < chain.graph.variables().size(); ++v) {
    if (chain.graph.variables()[v].observed) continue;
    const Belief belief = state.belief(VariableId{v});
    for (std::size_t i = 0; i < belief.size(); ++i) {
      CAPTURE(i);
      const VariableId e = scalar.elements[v][i];
      if (!has_points) CHECK(belief.mean(i) == oracle::relative(dense.mean[e.value], kChainError));
      if (!has_points) CHECK(belief.variance(i) == oracle::relative(dense.variance[e.value], kChainError));
      CHECK(oracle::distance(belief[i], scalar_state.belief(e)[0]) < kChainError);
    }
  }
}

Chain random_walk(std::uint32_t steps, double prior = 4) {
  Chain c;
  const auto x = c.graph.variable("x", steps), y = c.graph.observed("y", steps);
  c.graph.factor("gaussian_prior", {gather(x, {0})}, {{"mean", 0.5}, {"variance", prior}});
  c.graph.factor("gaussian_noise", {shift(x), x}, {{"variance", 0.01}});
  c.graph.factor("gaussian_noise", {x, y}, {{"variance", 0.25}});
  c.slots = {1, steps - 1, steps};
  return c;
}

}  // namespace

TEST_CASE("chain: a random walk as one plate equals filter and smoother") {
  constexpr std::size_t kSteps = 500;
  const Chain chain = random_walk(kSteps);
  const Plan plan = compile(chain.graph, forward_backward(), standard_registry());
  State state(plan);
  const auto values = oracle::random_values(chain.graph, 3);
  state.observe(VariableId{1}, values[1]);
  CHECK(run(plan, state).stop == Report::Stop::exact);
  const auto one = [](double value) { return Eigen::MatrixXd::Constant(1, 1, value); };
  const auto textbook = oracle::kalman({.transition = one(1),
                                        .noise = one(0.01),
                                        .gain = one(1),
                                        .mean = one(0.5),
                                        .covariance = one(4),
                                        .first_gains = one(1),
                                        .seen_variance = 0.25},
                                       {values[1].begin(), values[1].end()});
  const Belief belief = state.belief(VariableId{0});
  for (std::size_t t = 0; t < kSteps; ++t) {
    CHECK(belief.mean(t) == oracle::relative(textbook.means[t](0), kChainError));
    CHECK(belief.variance(t) == oracle::relative(textbook.covariances[t](0, 0), kChainError));
  }
}

TEST_CASE("chain: plates with shifts equal the same model as scalar nodes, and a dense solve") {
  for (const std::uint32_t steps : {2u, 3u, 40u}) {
    CAPTURE(steps);
    SUBCASE("a random walk") { check_as_written_out(random_walk(steps), 1); }
    SUBCASE("a parameter for each step, and a chain that is known at its end") {
      Chain c;
      const auto x = c.graph.variable("x", steps), y = c.graph.observed("y", steps), last = c.graph.observed("last");
      c.graph.factor("gaussian_noise", {shift(x), x}, {{"variance", positive(steps - 1, 5)}});
      c.graph.factor("gaussian_noise", {x, y}, {{"variance", positive(steps, 6)}});
      c.graph.factor("gaussian_noise", {gather(x, {steps - 1}), last}, {{"variance", 0.1}});
      c.slots = {steps - 1, steps, 1};
      check_as_written_out(c, 2);
    }
    SUBCASE("two factors from step to step") {
      Chain c;
      const auto x = c.graph.variable("x", steps), m = c.graph.variable("m", steps - 1),
                 y = c.graph.observed("y", steps);
      c.graph.factor("gaussian_prior", {gather(x, {0})}, {{"mean", 1.0}, {"variance", 2.0}});
      c.graph.factor("sum", {shift(x), m}, {{"coefficients", -0.8}});
      c.graph.factor("gaussian_noise", {m, shift(x, -1)}, {{"variance", 0.3}});
      c.graph.factor("gaussian_noise", {x, y}, {{"variance", 0.5}});
      c.slots = {1, steps - 1, steps - 1, steps};
      check_as_written_out(c, 3);
    }
    SUBCASE("an element between steps that is as long as the chain") {
      Chain c;
      const auto x = c.graph.variable("x", steps), m = c.graph.variable("m", steps), y = c.graph.observed("y", steps);
      c.graph.factor("gaussian_prior", {gather(m, {0})}, {{"mean", 1.0}, {"variance", 2.0}});
      c.graph.factor("sum", {shift(x), m}, {{"coefficients", 0.9}});
      c.graph.factor("gaussian_noise", {m, x}, {{"variance", 0.3}});
      c.graph.factor("gaussian_noise", {x, y}, {{"variance", 0.5}});
      c.slots = {1, steps - 1, steps, steps};
      check_as_written_out(c, 4);
    }
  }
  SUBCASE("every second step: two chains in one") {
    Chain c;
    const auto x = c.graph.variable("x", 31), y = c.graph.observed("y", 31);
    c.graph.factor("gaussian_noise", {shift(x, 2), x}, {{"variance", 0.3}});
    c.graph.factor("gaussian_noise", {x, y}, {{"variance", 0.5}});
    c.slots = {29, 31};
    check_as_written_out(c, 5);
  }
  SUBCASE("from the end to the beginning") {
    Chain c;
    const auto x = c.graph.variable("x", 20), y = c.graph.observed("y", 20);
    c.graph.factor("gaussian_noise", {shift(x, -1), x}, {{"variance", 0.3}});
    c.graph.factor("gaussian_noise", {x, y}, {{"variance", 0.5}});
    c.slots = {19, 20};
    check_as_written_out(c, 6);
  }
  SUBCASE("two chains, one after the other, and observations at a few steps") {
    Chain c;
    const auto x = c.graph.variable("x", 20), z = c.graph.variable("z", 12), y = c.graph.observed("y", 3);
    c.graph.factor("gaussian_prior", {gather(x, {0})}, {{"mean", 1.0}, {"variance", 2.0}});
    c.graph.factor("gaussian_noise", {shift(x), x}, {{"variance", 0.3}});
    c.graph.factor("gaussian_noise", {gather(x, {19}), gather(z, {0})}, {{"variance", 0.2}});
    c.graph.factor("gaussian_noise", {shift(z), z}, {{"variance", 0.4}});
    c.graph.factor("gaussian_noise", {gather(x, {3, 9, 17}), y}, {{"variance", 0.5}});
    c.slots = {1, 19, 1, 11, 3};
    check_as_written_out(c, 7);
  }
  SUBCASE("three chains that begin at one unknown") {
    Chain c;
    const auto h = c.graph.variable("h");
    c.graph.factor("gaussian_prior", {h}, {{"mean", 1.0}, {"variance", 2.0}});
    c.slots = {1};
    for (const char* const name : {"a", "b", "c"}) {
      const auto x = c.graph.variable(name, 15), y = c.graph.observed("", 15);
      c.graph.factor("gaussian_noise", {h, gather(x, {0})}, {{"variance", 0.3}});
      c.graph.factor("gaussian_noise", {shift(x), x}, {{"variance", 0.2}});
      c.graph.factor("gaussian_noise", {x, y}, {{"variance", 0.5}});
      c.slots.insert(c.slots.end(), {1, 14, 15});
    }
    check_as_written_out(c, 10);
  }
  SUBCASE("more scalar observations than are kept apart") {
    Chain c;
    const auto x = c.graph.variable("x", 50);
    c.graph.factor("gaussian_noise", {shift(x), x}, {{"variance", 0.3}});
    c.slots = {49};
    for (std::uint32_t t = 0; t < 50; t += 2) {
      c.graph.factor("gaussian_noise", {gather(x, {t}), c.graph.observed("")}, {{"variance", 0.5}});
      c.slots.push_back(1);
    }
    check_as_written_out(c, 8);
  }
}

TEST_CASE("chain: point masses, uniform messages and refused ones are those of scalar nodes") {
  Chain c = random_walk(12, 0.0);  // known exactly at the first step
  check_as_written_out(c, 1, true);
  const Plan plan = compile(c.graph, forward_backward(), standard_registry());
  State state(plan);
  state.observe(VariableId{1}, std::vector<double>(12, 1.0));
  (void)run(plan, state);
  CHECK(state.belief(VariableId{0})[0].is_point());
}

TEST_CASE("chain: the joint solver takes shifts as well") {
  // x_t = 1.2 x_(t-1) - 0.5 x_(t-2) + noise: a graph with loops, which sweeps do not solve exactly.
  Chain c;
  constexpr std::uint32_t kSteps = 30;
  const auto x = c.graph.variable("x", kSteps), m = c.graph.variable("m", kSteps - 2),
             y = c.graph.observed("y", kSteps);
  c.graph.factor("gaussian_prior", {gather(x, {0, 1})}, {{"mean", 0.0}, {"variance", 2.0}});
  c.graph.factor("sum", {shift(x, 1), shift(x, 2), m}, {{"coefficients", std::vector<double>{1.2, -0.5}}});
  c.graph.factor("gaussian_noise", {m, shift(x, -2)}, {{"variance", 0.3}});
  c.graph.factor("gaussian_noise", {x, y}, {{"variance", 0.5}});
  c.slots = {2, kSteps - 2, kSteps - 2, kSteps};
  CHECK_THROWS_WITH_AS(
      compile(c.graph, forward_backward(), standard_registry()),
      "the data flow has a cycle: x -> sum1 -> m -> gaussian_noise2 -> x; forward_backward needs none, use "
      "flooding, sequential or residual",
      Error);
  const Plan plan = compile(c.graph, joint(), standard_registry());
  State state(plan);
  const auto values = oracle::random_values(c.graph, 9);
  state.observe(y, values[y.value]);
  CHECK(run(plan, state).stop == Report::Stop::exact);
  const auto scalar = oracle::written_out(c.graph, c.slots);
  std::map<std::uint32_t, double> observed;
  for (std::size_t i = 0; i < kSteps; ++i) observed[scalar.elements[y.value][i].value] = values[y.value][i];
  const auto dense = oracle::dense_posterior(scalar.graph, observed);
  for (std::size_t i = 0; i < kSteps; ++i) {
    CHECK(state.belief(x).mean(i) == oracle::relative(dense.mean[scalar.elements[x.value][i].value], kChainError));
    CHECK(state.belief(x).variance(i) ==
          oracle::relative(dense.variance[scalar.elements[x.value][i].value], kChainError));
  }
}

TEST_CASE("chain: iterating schedules reach the same beliefs") {
  const Chain c = random_walk(15);
  const auto values = oracle::random_values(c.graph, 4);
  std::vector<Belief> beliefs;
  for (const Scheduler& rule : {forward_backward(), flooding()}) {
    const Plan plan = compile(c.graph, rule, standard_registry());
    State state(plan);
    state.observe(VariableId{1}, values[1]);
    CHECK(run(plan, state).converged());
    beliefs.push_back(state.belief(VariableId{0}));
  }
  CHECK(oracle::distance(beliefs[0], beliefs[1]) < 1e-8);
}

TEST_CASE("chain: less than 100 bytes a step, and no allocation while it runs") {
  constexpr std::uint32_t kSteps = 10000;
  const Chain c = random_walk(kSteps);
  const Plan plan = compile(c.graph, forward_backward(), standard_registry());
  CHECK(plan.bytes() < 100 * kSteps + 10000);
  State state(plan);
  state.observe(VariableId{1}, std::vector<double>(kSteps, 1.0));
  (void)run(plan, state);
  const auto before = oracle::allocations();
  (void)run(plan, state);
  CHECK(oracle::allocations() == before);
}

TEST_CASE("chain: parameters may change between runs") {
  Chain c = random_walk(10);
  const Plan plan = compile(c.graph, forward_backward(), standard_registry());
  State state(plan);
  const auto values = oracle::random_values(c.graph, 4);
  state.observe(VariableId{1}, values[1]);
  (void)run(plan, state);
  const std::vector<double> variances = positive(9, 3);
  state.set_parameter(FactorId{1}, "variance", variances);
  (void)run(plan, state);
  State copied = state.copy();
  (void)run(plan, copied);

  Graph other;
  const auto x = other.variable("x", 10), y = other.observed("y", 10);
  other.factor("gaussian_prior", {gather(x, {0})}, {{"mean", 0.5}, {"variance", 4.0}});
  other.factor("gaussian_noise", {shift(x), x}, {{"variance", variances}});
  other.factor("gaussian_noise", {x, y}, {{"variance", 0.25}});
  const Plan other_plan = compile(other, forward_backward(), standard_registry());
  State other_state(other_plan);
  other_state.observe(y, values[1]);
  (void)run(other_plan, other_state);
  CHECK(oracle::distance(state.belief(VariableId{0}), other_state.belief(x)) == 0);
  CHECK(oracle::distance(copied.belief(VariableId{0}), other_state.belief(x)) == 0);
}

TEST_CASE("shift: wrong sizes are one clear line") {
  Graph g;
  const auto x = g.variable("x", 3), u = g.variable("u", 5), y = g.variable("y", 2);
  const auto error_of = [&](std::initializer_list<Connection> ends) {
    Graph h = g;
    h.factor("gaussian_noise", ends, {{"variance", 1.0}});
    try {
      (void)compile(h, flooding(), standard_registry());
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(
      error_of({shift(x, 3), x}) ==
      "factor 'gaussian_noise0' (gaussian_noise): 'x' has 3 elements, too few for a shift over 3; give it at least 4");
  CHECK(error_of({shift(x, 1), u}) ==
        "factor 'gaussian_noise0' (gaussian_noise): 'u' has 5 elements; along a chain of 3 it takes 3, one for each "
        "element, or 2, one for each step");
  CHECK(error_of({shift(x), y}).starts_with("variable 'u' is connected to nothing"));
  CHECK(error_of({shift(x), shift(x)})
            .starts_with("factor 'gaussian_noise0' (gaussian_noise): 'x' stands on two of its ports"));
}
