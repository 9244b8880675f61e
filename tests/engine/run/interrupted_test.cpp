// Runs stopped by their caller, and states that continue earlier ones.
#include <chrono>
#include <thread>

#include "tests/oracles/random_graphs.h"
#include "tests/oracles/solved.h"

namespace {

struct GrowingWalk {
  Graph g;
  std::vector<VariableId> x, y;
  void grow() {
    const std::size_t t = x.size();
    x.push_back(g.variable("")), y.push_back(g.observed(""));
    if (t == 0)
      g.factor("gaussian_prior", {x[0]}, {{"mean", 0.0}, {"variance", 1.0}});
    else
      g.factor("gaussian_noise", {x[t - 1], x[t]}, {{"variance", 0.5}});
    g.factor("gaussian_noise", {x[t], y[t]}, {{"variance", 0.2}});
  }
};

}  // namespace

TEST_CASE("interrupted: a callback ends a run after a sweep, and a warm run goes on to the same end") {
  const auto given = oracle::ring(3, 8, 0.6);
  for (const Scheduler& rule : {flooding({.tolerance = 1e-12}), residual({.tolerance = 1e-12})}) {
    const Plan plan = compile(given.graph, rule, standard_registry());
    CAPTURE(plan->schedule.name);
    State whole(plan), parted(plan);
    given.observe_in(whole), given.observe_in(parted);
    CHECK(run(plan, whole).converged());
    int calls = 0;
    const Report stopped = run(plan, parted, {.callback = [&](const Report& so_far) {
                                 CHECK(so_far.sweeps == ++calls);
                                 CHECK(so_far.change > 0);
                                 return so_far.sweeps < 3;
                               }});
    CHECK(stopped.stop == Report::Stop::interrupted);
    CHECK(!stopped.converged());
    CHECK(stopped.sweeps == 3);
    CHECK(stopped.line().starts_with("interrupted after 3 sweeps, not converged"));
    CHECK(run(plan, parted, {.warm = true}).converged());
    for (std::uint32_t v = 0; v < given.graph.variables().size(); ++v)
      if (!given.graph.variables()[v].observed)
        CHECK(oracle::distance(whole.belief(VariableId{v}), parted.belief(VariableId{v})) < 1e-9);
  }
}

TEST_CASE("interrupted: a run has at least one sweep in any time, and all it needs in enough") {
  const auto given = oracle::ring(3, 8, 0.6);
  const Plan plan = compile(given.graph, flooding(), standard_registry());
  State state(plan);
  given.observe_in(state);
  using namespace std::chrono_literals;
  const Report brief = run_for(plan, state, 0ns);
  CHECK(brief.stop == Report::Stop::interrupted);
  CHECK(brief.sweeps == 1);
  CHECK(run_for(plan, state, 1h).converged());
  const Plan jointly = compile(given.graph, joint(), standard_registry());
  State solved(jointly);
  given.observe_in(solved);
  CHECK(run_for(jointly, solved, 1h).converged());
  GrowingWalk walk;
  walk.grow();
  const Plan once = compile(walk.g, forward_backward(), standard_registry());
  State single(once);
  single.observe(walk.y[0], 1);
  CHECK(run_for(once, single, 0ns).stop == Report::Stop::exact);
}

TEST_CASE("interrupted: the time is looked at within a sweep, from the second one on") {
  static int computed;
  computed = 0;
  Registry registry = standard_registry();
  constexpr int kLength = 5000;
  // Alternating kinds, so that every message is an operation of its own; after the first sweep each takes its time.
  const auto pass = [](const Gaussian& x) {
    if (++computed > 4 * kLength) std::this_thread::sleep_for(std::chrono::microseconds(10));
    return Gaussian(0.9 * x.tau, 0.9 * x.rho);
  };
  for (const char* const name : {"this", "that"})
    registry.add(kind(name).input("x").output("y").message("dma", "x", pass).message("dma", "y", pass));
  Graph g;
  VariableId last = g.variable("");
  g.factor("gaussian_prior", {last}, {{"mean", 1.0}, {"variance", 1.0}});
  for (int t = 0; t < kLength; ++t) {
    const VariableId next = g.variable("");
    g.factor(t % 2 == 0 ? "this" : "that", {last, next});
    last = next;
  }
  for (const Scheduler& rule : {sequential({.tolerance = 0}), residual({.tolerance = 0})}) {
    computed = 2 * kLength;  // the first sweep is quick
    State state(compile(g, rule, registry));
    const Report report = run_for(state.plan(), state, std::chrono::milliseconds(50));
    CAPTURE(rule.name);
    CHECK(report.stop == Report::Stop::interrupted);
    CHECK(computed < 6 * kLength);  // stopped before the end of the second
  }
}

TEST_CASE("carry over: a graph that has grown begins with what was known") {
  GrowingWalk walk;
  for (int t = 0; t < 30; ++t) walk.grow();
  const Scheduler rule = flooding({.tolerance = 1e-11});
  Plan plan = compile(walk.g, rule, standard_registry());
  State state(plan);
  for (std::size_t t = 0; t < 30; ++t) state.observe(walk.y[t], 0.1 * static_cast<double>(t * t % 7));
  CHECK(run(plan, state).sweeps > 10);
  State same(plan, state);
  CHECK(run(plan, same, {.warm = true}).sweeps == 1);  // nothing is new
  walk.grow();
  const Plan longer = compile(walk.g, rule, standard_registry());
  State grown(longer, state), fresh(longer);
  CHECK_THROWS_AS(run(longer, grown, {.warm = true}), Error);  // the new value is missing
  grown.observe(walk.y[30], 0.4);
  for (std::size_t t = 0; t < 31; ++t) fresh.observe(walk.y[t], t < 30 ? 0.1 * static_cast<double>(t * t % 7) : 0.4);
  const Report warm = run(longer, grown, {.warm = true}), cold = run(longer, fresh);
  CHECK(warm.converged());
  CHECK(cold.converged());
  for (const VariableId x : walk.x) CHECK(oracle::distance(grown.belief(x), fresh.belief(x)) < 1e-9);
  CHECK_THROWS_WITH_AS(State(plan, fresh), doctest::Contains("a graph that has grown is expected"), Error);
  GrowingWalk other;
  other.grow();
  CHECK_THROWS_WITH_AS(State(compile(other.g, rule, standard_registry()), state), doctest::Contains("another graph"),
                       Error);
}
