// Kinds with memory: numbers kept per slot from one visit to the next.
#include "tests/oracles/solved.h"

namespace {

int newton_steps = 0;

// y ~ Poisson(exp(x)): the mode of exp(y x - e^x) times the arriving message, by Newton's method from its last result.
struct PoissonByMode {
  static Gaussian to_x(const Gaussian& x, const Gaussian& y, SlotMemory last) {
    if (!x.is_proper() || !y.is_point()) return Gaussian::uniform();
    double at = last[0], step = 1;
    for (int i = 0; i < 100 && std::abs(step) > 1e-13; ++i, ++newton_steps) {
      step = (y.tau - std::exp(at) + x.tau - x.rho * at) / (std::exp(at) + x.rho);
      at += std::fmax(-1, std::fmin(1, step));
    }
    last[0] = at;
    last[1] += 1;
    const double precision = std::exp(at);
    return {precision * at + y.tau - std::exp(at), precision};
  }
};

Registry with_memory(std::size_t numbers) {
  Registry registry = standard_registry();
  registry.add(
      kind("poisson_by_mode")
          .input("x")
          .output("y")
          .log_density([](std::span<const double> v, std::span<const double>) { return v[1] * v[0] - std::exp(v[0]); })
          .memory(numbers)
          .message<&PoissonByMode::to_x>("ep", "x", from("x", "y")));
  return registry;
}

// Rates that share their level: a graph that takes several sweeps.
Graph counts_graph(std::uint32_t count, bool as_plate) {
  Graph g;
  const auto level = g.variable("level");
  g.factor("gaussian_prior", {level}, {{"mean", 1.0}, {"variance", 2.0}});
  const std::uint32_t plates = as_plate ? 1 : count, size = as_plate ? count : 1;
  for (std::uint32_t i = 0; i < plates; ++i) {
    const auto x = g.variable("", size), y = g.observed("", size);
    g.factor("gaussian_noise", {as_plate ? all_to_one(level) : Connection(level), x}, {{"variance", 0.5}});
    g.factor("poisson_by_mode", {x, y});
  }
  return g;
}

}  // namespace

TEST_CASE("memory: a site starts from its last answer, a fresh run from none") {
  const Registry registry = with_memory(2);
  const std::vector<double> y{3, 0, 12, 5, 40};
  std::vector<Belief> levels;
  for (const bool as_plate : {true, false}) {
    const Graph g = counts_graph(5, as_plate);
    const Plan plan = compile(g, flooding(), registry, {.method = "ep"});
    State state(plan);
    std::size_t next = 0;
    for (std::uint32_t v = 0; v < g.variables().size(); ++v)
      if (const std::uint32_t size = g.variables()[v].size; g.variables()[v].observed) {
        state.observe(VariableId{v}, std::span(y).subspan(next, size));
        next += size;
      }
    newton_steps = 0;
    const Report report = run(plan, state);
    CHECK(report.converged());
    const int first = newton_steps;
    // Near the fixed point a site with memory needs a step or two; from 0 it would take more than five each time.
    CHECK(first < 5 * report.sweeps * 3);
    levels.push_back(state.belief(VariableId{0}));
    newton_steps = 0;
    CHECK(run(plan, state, {.warm = true}).converged());
    CHECK(newton_steps < 5 * 3);
    State copied = state.copy();
    newton_steps = 0;
    CHECK(run(plan, copied, {.warm = true}).converged());
    CHECK(newton_steps < 5 * 3);
    newton_steps = 0;
    CHECK(run(plan, state).sweeps == report.sweeps);
    CHECK(newton_steps == first);
    CHECK(oracle::distance(state.belief(VariableId{0}), levels.back()) == 0);
  }
  CHECK(oracle::distance(levels[0], levels[1]) < 1e-9);
}

TEST_CASE("memory: the joint solver's sites have it as well") {
  const Graph g = counts_graph(4, true);
  const Plan plan = compile(g, joint(), with_memory(2));
  State state(plan);
  state.observe(VariableId{2}, {3.0, 0.0, 12.0, 5.0});
  newton_steps = 0;
  CHECK(run(plan, state).converged());
  const int first = newton_steps;
  newton_steps = 0;
  CHECK(run(plan, state).converged());
  CHECK(newton_steps == first);
}

TEST_CASE("memory: a message function that takes it needs a kind that has it") {
  CHECK_THROWS_WITH_AS(with_memory(0),
                       "kind 'poisson_by_mode': the message to 'x' takes a SlotMemory, but the kind has none; call "
                       "memory(numbers) before message(...)",
                       Error);
}
