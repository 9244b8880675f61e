// Chains written as one plate with shift: exact in one sweep.
#include "tests/oracles/allocations.h"
#include "tests/oracles/dense_gaussian.h"
#include "tests/oracles/random_graphs.h"
#include "tests/oracles/random_messages.h"
#include "tests/oracles/scalar_graph.h"
#include "tests/oracles/solved.h"

namespace {

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

// With some readings missing, the beliefs are those of the same model written out: of a dense solve or, where points
// are known, of scalar nodes.
template <class Rule>
void check_as_written_out(const Chain& chain, std::uint64_t seed, const Rule& rule, bool has_points = false) {
  const Plan plan = compile(chain.graph, rule, standard_registry());
  INFO("seed ", seed, "\n", describe(plan));
  State state(plan);
  const auto scalar = oracle::written_out(chain.graph, chain.slots);
  oracle::GivenGraph written{scalar.graph, {}};
  for (std::uint64_t turn = 0; turn < 2; ++turn) {  // the second run must not depend on the first
    const auto values = oracle::random_values(chain.graph, seed + turn);
    written.observed.clear();
    for (std::uint32_t v = 0; v < values.size(); ++v)
      if (chain.graph.variables()[v].observed) {
        state.observe(VariableId{v}, values[v]);
        for (std::size_t i = 0; i < values[v].size(); ++i) {
          const bool is_missing = !has_points && (i + seed + turn) % 5 == 3;
          if (is_missing)
            state.observe_missing(VariableId{v}, i);
          else
            written.observed[scalar.elements[v][i].value] = values[v][i];
        }
      }
    const Report report = run(plan, state);
    CHECK(report.converged());
    if (plan->schedule.order != Schedule::Order::once) continue;
    CHECK(report.stop == Report::Stop::exact);
    CHECK(report.messages == plan.messages_per_sweep());
  }
  const auto dense = has_points ? oracle::DensePosterior() : oracle::dense_posterior(written.graph, written.observed);
  std::optional<oracle::Solved> nodes;
  if (has_points)
    nodes.emplace(oracle::solved(compile(written.graph, forward_backward(), standard_registry()), written.values()));
  for (std::uint32_t v = 0; v < chain.graph.variables().size(); ++v) {
    if (chain.graph.variables()[v].observed) continue;
    const Belief belief = state.belief(VariableId{v});
    for (std::size_t i = 0; i < belief.size(); ++i) {
      const VariableId e = scalar.elements[v][i];
      if (has_points) {
        CHECK(oracle::distance(belief[i], nodes->state.belief(e)[0]) < kChainError);
        continue;
      }
      CHECK(belief.mean(i) == oracle::relative(dense.mean[e.value], kChainError));
      CHECK(belief.variance(i) == oracle::relative(dense.variance[e.value], kChainError));
    }
  }
}

// One to three chains that begin at one unknown, or each where the one before ends. Steps lead up or down, have numbers
// of their own or one for all, and may have another variable between them; readings are everywhere, at a few steps, or
// more nodes than are kept apart.
Chain random_chains(std::uint64_t seed) {
  oracle::RandomMessages random(seed);
  Chain c;
  Graph& g = c.graph;
  const auto add = [&](const char* kind, const std::vector<Connection>& ends, ParameterList parameters, std::size_t n) {
    g.factor(kind, ends, std::move(parameters));
    c.slots.push_back(n);
  };
  const auto noise = [&](const Connection& from, const Connection& to, std::size_t n) {
    const std::vector<double> each = positive(n, seed + c.slots.size());
    const bool has_own = random.chance(0.5);
    add("gaussian_noise", {from, to}, {{"variance", has_own ? ParameterValue(each) : ParameterValue(0.3)}}, n);
  };
  const VariableId h = g.variable("h");
  add("gaussian_prior", {h}, {{"mean", 1.0}, {"variance", 2.0}}, 1);
  Connection from(h);
  const bool hang = random.chance(0.5);
  for (int chains = 1 + static_cast<int>(3 * random.uniform()); chains > 0; --chains) {
    const auto steps = static_cast<std::uint32_t>(2 + 14 * random.uniform());
    const VariableId x = g.variable("", steps);
    const bool is_down = random.chance(0.3);
    const std::uint32_t first = is_down ? steps - 1 : 0, last = steps - 1 - first;
    noise(from, gather(x, {first}), 1);
    if (is_down || random.chance(0.4)) {
      noise(shift(x, is_down ? -1 : 1), x, steps - 1);
    } else {
      const VariableId between = g.variable("", steps - 1);
      add("sum", {shift(x), between}, {{"coefficients", random.sign() * random.log_uniform({0.5, 1.2})}}, steps - 1);
      noise(between, shift(x, -1), steps - 1);
    }
    if (const double which = random.uniform(); which < 0.5) {
      noise(x, g.observed("", steps), steps);
    } else if (which < 0.75) {
      noise(gather(x, {last}), g.observed(""), 1);
    } else {
      for (std::uint32_t t = 0; t < steps; t += 2) noise(gather(x, {t}), g.observed(""), 1);
    }
    if (!hang) from = gather(x, {last});
  }
  return c;
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

TEST_CASE("chain: plates with shifts equal the same model as scalar nodes, by a dense solve") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) check_as_written_out(random_chains(seed), seed, forward_backward());
  check_as_written_out(random_walk(40), 1, forward_backward());
  check_as_written_out(random_walk(15), 1, flooding({.tolerance = 1e-13}));
  // Every second step: two chains in one. An element between steps that is as long as the chain.
  Chain two, between;
  const auto x = two.graph.variable("x", 31), y = two.graph.observed("y", 31);
  two.graph.factor("gaussian_noise", {shift(x, 2), x}, {{"variance", 0.3}});
  two.graph.factor("gaussian_noise", {x, y}, {{"variance", 0.5}});
  two.slots = {29, 31};
  check_as_written_out(two, 5, forward_backward());
  const auto z = between.graph.variable("z", 40), m = between.graph.variable("m", 40),
             r = between.graph.observed("r", 40);
  between.graph.factor("gaussian_prior", {gather(m, {0})}, {{"mean", 1.0}, {"variance", 2.0}});
  between.graph.factor("sum", {shift(z), m}, {{"coefficients", 0.9}});
  between.graph.factor("gaussian_noise", {m, z}, {{"variance", 0.3}});
  between.graph.factor("gaussian_noise", {z, r}, {{"variance", 0.5}});
  between.slots = {1, 39, 40, 40};
  check_as_written_out(between, 4, forward_backward());
}

TEST_CASE("chain: point masses, uniform messages and refused ones are those of scalar nodes") {
  Chain c = random_walk(12, 0.0);  // known exactly at the first step
  check_as_written_out(c, 1, forward_backward(), true);
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
  check_as_written_out(c, 9, joint());
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

TEST_CASE("shift: wrong sizes are one clear line") {
  Graph g;
  const auto x = g.variable("x", 3), u = g.variable("u", 5), y = g.variable("y", 2);
  const auto error_of = [&](std::initializer_list<Connection> ends) {
    Graph h = g;
    h.factor("gaussian_noise", ends, {{"variance", 1.0}});
    return oracle::error_of([&] { (void)compile(h, flooding(), standard_registry()); });
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
