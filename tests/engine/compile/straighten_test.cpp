#include <fmt/format.h>

#include <random>

#include "engine/compile/lower.h"
#include "tests/oracles/dense_gaussian.h"
#include "tests/oracles/random_graphs.h"
#include "tests/oracles/solved.h"

namespace {

std::size_t straight(const Plan& plan) {
  const auto is_chain = [](const Operation& op) { return std::holds_alternative<ChainSend>(op); };
  return static_cast<std::size_t>(std::ranges::count_if(plan->operations, is_chain));
}

std::size_t by_table(const Plan& plan) {
  return static_cast<std::size_t>(std::ranges::count_if(plan->operations, [](const Operation& op) {
    const Send* const send = std::get_if<Send>(&op);
    return send != nullptr && send->is_chain;
  }));
}

// A chain of scalar nodes with individual variances of steps, and readings in each of which there may be any number.
struct NodeChain : oracle::GivenGraph {
  explicit NodeChain(int length) {
    for (int t = 0; t < length; ++t) x.push_back(graph.variable(""));
    graph.factor("gaussian_prior", {x[0]}, {{"mean", 1.0}, {"variance", 4.0}});
  }
  void step(std::size_t t, double variance) {
    graph.factor("gaussian_noise", {x[t], x[t + 1]}, {{"variance", variance}}, {.name = fmt::format("step{}", t)});
  }
  void read(std::size_t t, double value, double variance) {
    const VariableId y = graph.observed("");
    observed[y.value] = value;
    graph.factor("gaussian_noise", {x[t], y}, {{"variance", variance}});
  }
  void check(const State& state) const {
    const auto truth = oracle::dense_posterior(graph, observed);
    for (const VariableId v : x) {
      const Belief belief = state.belief(VariableId{v.value});  // by number: the state may be of a graph like this one
      CHECK(belief.mean() == oracle::relative(truth.mean[v.value], 1e-9));
      CHECK(belief.variance() == oracle::relative(truth.variance[v.value], 1e-9));
    }
  }
  std::vector<VariableId> x;
};

NodeChain read_everywhere(double special_step, double special_value) {
  NodeChain chain(200);
  for (std::size_t t = 0; t < 200; ++t) {
    if (t > 0) chain.step(t - 1, t == 51 ? special_step : 0.1 + 0.01 * static_cast<double>(t));
    chain.read(t, t == 7 ? special_value : std::sin(0.1 * static_cast<double>(t)), 0.5);
  }
  return chain;
}

}  // namespace

TEST_CASE("straighten: a chain built node by node is straightened, forward and backward side by side, and stays so") {
  const NodeChain chain = read_everywhere(0.61, 0.7), changed = read_everywhere(2.0, 3);
  auto [plan, state, report] =
      oracle::solved(compile(chain.graph, forward_backward(), standard_registry()), chain.values());
  CHECK(straight(plan) == 2);
  CHECK(by_table(plan) == 0);
  CHECK(std::ranges::any_of(plan->operations, [](const Operation& op) {
    const ChainSend* const straight = std::get_if<ChainSend>(&op);
    return straight != nullptr && straight->is_beside_last;
  }));
  CHECK(report.messages == plan.messages_per_sweep());
  chain.check(state);
  // Again, with another value and another parameter.
  for (const oracle::Given& given : changed.values()) given.observe_in(state);
  state.set_parameter(chain.graph.find_factor("step50"), "variance", 2.0);
  run(plan, state);
  changed.check(state);
}

TEST_CASE("straighten: irregular chains equal a dense solve, straightened or not") {
  std::size_t straightened = 0, looked_up = 0;
  for (unsigned seed = 0; seed < 30; ++seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> unit(0, 1);
    const int steps = 70 + static_cast<int>(random() % 200);
    // From no gaps in the readings to one in every second.
    const double gaps = seed % 3 == 0 ? 0 : seed % 3 == 1 ? 0.01 : 0.5;
    NodeChain chain(steps);
    for (std::size_t t = 0; t < chain.x.size(); ++t) {
      if (t > 0) chain.step(t - 1, 0.1 + unit(random));
      const auto read = [&] {
        const double value = 2 * unit(random) - 1;
        chain.read(t, value, 0.2 + unit(random));
      };
      while (unit(random) < gaps) read();
      if (unit(random) >= gaps) read();
    }
    const auto [plan, state, report] =
        oracle::solved(compile(chain.graph, forward_backward(), standard_registry()), chain.values());
    straightened += straight(plan), looked_up += by_table(plan);
    chain.check(state);
  }
  CHECK(straightened > 0);
  CHECK(looked_up > 0);
}

TEST_CASE("straighten: readers of a value look it up as before") {
  Graph g;
  std::vector<VariableId> coefficients;
  VariableId x = g.variable("");
  g.factor("gaussian_prior", {x}, {{"mean", 1.0}, {"variance", 1.0}});
  double mean = 1, variance = 1;
  for (int t = 0; t < 100; ++t) {
    const VariableId next = g.variable("");
    coefficients.push_back(g.observed(""));
    g.factor("product", {x, coefficients.back(), next});
    x = next;
    mean *= 1 + 0.01 * t, variance *= (1 + 0.01 * t) * (1 + 0.01 * t);
  }
  const Plan plan = compile(g, forward_backward(), standard_registry());
  CHECK(straight(plan) == 0);
  State state(plan);
  for (int t = 0; t < 100; ++t) state.observe(coefficients[static_cast<std::size_t>(t)], 1 + 0.01 * t);
  run(plan, state);
  CHECK(state.belief(x).means()[0] == oracle::relative(mean, 1e-12));
  CHECK(state.belief(x).variances()[0] == oracle::relative(variance, 1e-12));
}
