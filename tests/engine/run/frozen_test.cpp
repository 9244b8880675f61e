// Frozen variables beside those of random trees (trees_test.cpp): plates, fused factors, several components.
#include "tests/oracles/allocations.h"
#include "tests/oracles/random_graphs.h"
#include "tests/oracles/solved.h"

namespace {

constexpr std::size_t kNodes = 7;
constexpr double kFrozenError = 1e-9;

double series(std::size_t t, int turn) { return static_cast<double>((5 * t + 3) % 7) - 2.0 + 1.7 * turn; }

}  // namespace

TEST_CASE("frozen: a chain written as one plate hears nothing, and what hangs on it goes on") {
  Graph g;
  const auto x = g.variable("x", kNodes), y = g.observed("y", kNodes), z = g.variable("z", kNodes),
             s = g.observed("s", kNodes);
  g.factor("gaussian_prior", {gather(x, {0})}, {{"mean", 0.5}, {"variance", 2.0}});
  g.factor("gaussian_noise", {shift(x), x}, {{"variance", 0.4}});
  g.factor("gaussian_noise", {x, y}, {{"variance", 0.3}});
  g.factor("gaussian_noise", {x, z}, {{"variance", 0.2}});
  const FactorId says = g.factor("gaussian_noise", {z, s}, {{"variance", 0.1}});
  const Plan plan = compile(g, forward_backward(), standard_registry());
  State state(plan);
  std::vector<double> values(kNodes);
  const auto observe = [&](VariableId v, int turn) {
    for (std::size_t t = 0; t < kNodes; ++t) values[t] = series(t, turn);
    state.observe(v, values);
  };
  observe(y, 0);
  observe(s, 1);
  run(plan, state);
  const Belief x_before = state.belief(x), z_before = state.belief(z);
  const auto said = state.messages(says, "x");
  state.freeze(x);
  observe(y, 2);
  observe(s, 3);
  run(plan, state);
  const auto says_now = state.messages(says, "x");
  for (std::size_t t = 0; t < kNodes; ++t) {
    CHECK(state.belief(x)[t] == x_before[t]);
    // x's message to z is unchanged; s's message is new.
    const Natural told = divide(z_before[t], said[t]);
    CHECK(oracle::distance(state.belief(z)[t], Gaussian(multiply(told, says_now[t]))) < kFrozenError);
  }
  const State copied = state.copy();
  CHECK(copied.is_frozen(x));
}

TEST_CASE("frozen: one of several terms of a sum, and a run allocates nothing") {
  Graph g;
  const auto a = g.variable("a"), b = g.variable("b"), total = g.variable("total"), y = g.observed("y");
  g.factor("gaussian_prior", {a}, {{"mean", 1.0}, {"variance", 1.0}});
  const FactorId prior_of_b = g.factor("gaussian_prior", {b}, {{"mean", 2.0}, {"variance", 3.0}});
  g.factor("sum", {Connection("terms", a), Connection("terms", b), Connection("total", total)});
  g.factor("gaussian_noise", {total, y}, {{"variance", 0.5}});
  const Plan plan = compile(g, flooding(), standard_registry());
  State state(plan);
  state.observe(y, 5.0);
  CHECK(run(plan, state).converged());
  const Gaussian held = state.belief(b)[0];
  state.freeze(b);
  state.observe(y, 9.0);
  state.set_parameter(prior_of_b, "mean", -7.0);
  const auto before = oracle::allocations();
  const Report report = run(plan, state, {.diagnose = false});
  CHECK(oracle::allocations() == before);
  CHECK(report.converged());
  CHECK(state.belief(b)[0] == held);
  // b sends the sum its old message: its prior, N(2, 3). So a ~ N(1, 1) given a + N(2, 3) = 9 +- 0.5.
  const double precision = 1 + 1 / 3.5, mean = (1 + 7 / 3.5) / precision;
  CHECK(state.belief(a).mean() == doctest::Approx(mean));
  CHECK(state.belief(a).variance() == doctest::Approx(1 / precision));
}

TEST_CASE("frozen: the state of a grown graph keeps it; variables that cannot be frozen are named") {
  oracle::GivenGraph given = oracle::ring(3, 5, 0.5);
  const VariableId x{1};
  auto [plan, state, report] = oracle::solved(compile(given.graph, flooding(), standard_registry()), given.values());
  state.freeze(x);
  const Gaussian held = state.belief(x)[0];
  CHECK_THROWS_WITH_AS(state.freeze({given.observed.begin()->first}), doctest::Contains("is observed"), Error);
  CHECK_THROWS_WITH_AS(state.thaw({2}), doctest::Contains("is not frozen"), Error);
  const VariableId y = given.graph.observed("again");
  given.graph.factor("gaussian_noise", {VariableId{4}, y}, {{"variance", 0.2}});
  const Plan grown = compile(given.graph, flooding(), standard_registry());
  State next(grown, state);
  next.observe(y, 2.0);
  CHECK(next.is_frozen(x));
  CHECK(run(grown, next).converged());
  CHECK(next.belief(x)[0] == held);
  State joined(compile(given.graph, joint(), standard_registry()));
  CHECK_THROWS_WITH_AS(joined.freeze(x), doctest::Contains("joint solves"), Error);
}

TEST_CASE("frozen: one side of a fused product and sum, as of the two factors apart") {
  Graph g;
  const auto a = g.variable("a", 4), b = g.variable("b", 4), p = g.variable("p", 4), z = g.variable("z"),
             y = g.observed("y");
  g.factor("gaussian_prior", {a}, {{"mean", std::vector<double>{1, 2, -1, 0.5}}, {"variance", 0.3}});
  g.factor("gaussian_prior", {b}, {{"mean", std::vector<double>{-1, 1, 2, 3}}, {"variance", 0.2}});
  g.factor("product", {a, b, p});
  g.factor("sum", {p, z});
  g.factor("gaussian_noise", {z, y}, {{"variance", 0.5}});
  const auto beliefs = [&](bool fuse, bool freeze) {
    auto [plan, state, report] =
        oracle::solved(compile(g, forward_backward(), standard_registry(), {.fuse = fuse}), {{y, 3.0}});
    if (freeze) state.freeze(b);
    state.observe(y, 6.0);
    run(plan, state);
    return std::pair(state.belief(a), state.belief(b));
  };
  const auto [a_fused, b_fused] = beliefs(true, true);
  const auto [a_apart, b_apart] = beliefs(false, true);
  const auto [a_free, b_free] = beliefs(true, false);
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(oracle::distance(a_fused[i], a_apart[i]) < kFrozenError);
    CHECK(oracle::distance(b_fused[i], b_apart[i]) < kFrozenError);
    CHECK(oracle::distance(a_fused[i], a_free[i]) < kFrozenError);  // b's message to the product is its prior
    CHECK(oracle::distance(b_fused[i], b_free[i]) > 1e-5);
  }
  State fused(compile(g, forward_backward(), standard_registry()));
  CHECK_THROWS_WITH_AS(fused.freeze(p), doctest::Contains("was fused away"), Error);
}

TEST_CASE("frozen: one of many categorical nodes, whose messages have several components") {
  Graph g;
  std::vector<VariableId> z, seen;
  for (int t = 0; t < 4; ++t)
    z.push_back(g.variable("", 1, "categorical(3)")), seen.push_back(g.observed("", 1, "categorical(2)"));
  g.factor("categorical_prior", {z[0]}, {{"probability", {0.5, 0.3, 0.2}}});
  const ParameterValue steps{0.8, 0.1, 0.1, 0.1, 0.8, 0.1, 0.1, 0.1, 0.8}, symbols{0.9, 0.1, 0.5, 0.5, 0.2, 0.8};
  for (std::size_t t = 1; t < 4; ++t) g.factor("table", {z[t - 1], z[t]}, {{"probability", steps}});
  for (std::size_t t = 0; t < 4; ++t) g.factor("table", {z[t], seen[t]}, {{"probability", symbols}});
  const auto beliefs = [&](const Scheduler& rule, bool freeze) {
    const Plan plan = compile(g, rule, standard_registry());
    State state(plan);
    for (const VariableId v : seen) state.observe(v, 0.0);
    run(plan, state);
    if (freeze) state.freeze(z[1]);
    state.observe(seen[3], 1.0);
    run(plan, state);
    std::vector<std::vector<double>> out;
    for (const VariableId v : z) out.push_back(state.belief(v).means());
    return out;
  };
  for (const Scheduler& rule : {forward_backward(), flooding({.tolerance = 1e-14})}) {
    const auto held = beliefs(rule, true), free = beliefs(rule, false);
    // New information comes from the right: z[2] and z[3] receive z[1]'s old message, z[0] and z[1] receive nothing
    // new.
    const auto apart = [&](std::size_t t) {
      double most = 0;
      for (std::size_t k = 0; k < 3; ++k) most = std::max(most, std::abs(held[t][k] - free[t][k]));
      return most;
    };
    CHECK(apart(0) > 1e-3);
    CHECK(apart(1) > 1e-3);
    CHECK(apart(2) < 1e-12);
    CHECK(apart(3) < 1e-12);
  }
}
