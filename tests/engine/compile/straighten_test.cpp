#include <doctest/doctest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <random>
#include <vector>

#include "engine/compile/compile.h"
#include "engine/compile/lower.h"
#include "engine/compile/plan_data.h"
#include "engine/run/run.h"
#include "factors/standard_registry.h"
#include "schedules/forward_backward.h"
#include "tests/oracles/relative.h"

namespace {

using namespace dma;

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

// A chain of scalar nodes with individual variances of steps and readings, and the same as equations.
struct NodeChain {
  explicit NodeChain(int length)
      : information(Eigen::MatrixXd::Zero(length, length)), shift(Eigen::VectorXd::Zero(length)) {
    for (int t = 0; t < length; ++t) x.push_back(graph.variable(""));
    graph.factor("gaussian_prior", {x[0]}, {{"mean", 1.0}, {"variance", 4.0}});
    information(0, 0) += 1 / 4.0, shift(0) += 1 / 4.0;
  }
  void step(int t, double variance) {
    steps.push_back(graph.factor("gaussian_noise", {x[at(t)], x[at(t + 1)]}, {{"variance", variance}}));
    information(t, t) += 1 / variance, information(t + 1, t + 1) += 1 / variance;
    information(t, t + 1) -= 1 / variance, information(t + 1, t) -= 1 / variance;
  }
  void read(int t, double value, double variance) {
    y.push_back(graph.observed(""));
    values.push_back(value);
    graph.factor("gaussian_noise", {x[at(t)], y.back()}, {{"variance", variance}});
    information(t, t) += 1 / variance, shift(t) += value / variance;
  }
  State observed(const Plan& plan) const {
    State state(plan);
    for (std::size_t i = 0; i < y.size(); ++i) state.observe(y[i], values[i]);
    return state;
  }
  void check(const State& state) const {
    const Eigen::MatrixXd covariance = information.inverse();
    const Eigen::VectorXd mean = covariance * shift;
    for (Eigen::Index t = 0; t < mean.size(); ++t) {
      const Belief belief = state.belief(x[static_cast<std::size_t>(t)]);
      CHECK(belief.means()[0] == oracle::relative(mean(t), 1e-9));
      CHECK(belief.variances()[0] == oracle::relative(covariance(t, t), 1e-9));
    }
  }
  static std::size_t at(int t) { return static_cast<std::size_t>(t); }

  Graph graph;
  std::vector<VariableId> x, y;
  std::vector<double> values;
  std::vector<FactorId> steps;
  Eigen::MatrixXd information;
  Eigen::VectorXd shift;
};

}  // namespace

TEST_CASE("straighten: a chain built node by node is straightened, forward and backward side by side") {
  constexpr int kSteps = 200;
  NodeChain chain(kSteps);
  for (int t = 0; t < kSteps; ++t) {
    if (t > 0) chain.step(t - 1, 0.1 + 0.01 * t);
    chain.read(t, std::sin(0.1 * t), 0.5);
  }
  const Plan plan = compile(chain.graph, forward_backward(), standard_registry());
  CHECK(straight(plan) == 2);
  CHECK(by_table(plan) == 0);
  CHECK(std::ranges::any_of(plan->operations, [](const Operation& op) {
    const ChainSend* const straight = std::get_if<ChainSend>(&op);
    return straight != nullptr && straight->is_beside_last;
  }));
  State state = chain.observed(plan);
  const Report report = run(plan, state);
  CHECK(report.messages == plan.messages_per_sweep());
  chain.check(state);

  SUBCASE("again, with other values and another parameter") {
    chain.values[7] = 3;
    chain.shift(7) += (3 - std::sin(0.7)) / 0.5;
    state.observe(chain.y[7], 3);
    const double before = 1 / (0.1 + 0.01 * 51), after = 1 / 2.0;
    state.set_parameter(chain.steps[50], "variance", 2.0);
    for (const auto& [i, j, sign] :
         {std::tuple(50, 50, 1), std::tuple(51, 51, 1), std::tuple(50, 51, -1), std::tuple(51, 50, -1)})
      chain.information(i, j) += sign * (after - before);
    run(plan, state);
    chain.check(state);
  }
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
    for (int t = 0; t < steps; ++t) {
      if (t > 0) chain.step(t - 1, 0.1 + unit(random));
      const auto read = [&] {
        const double value = 2 * unit(random) - 1;
        chain.read(t, value, 0.2 + unit(random));
      };
      while (unit(random) < gaps) read();
      if (unit(random) >= gaps) read();
    }
    const Plan plan = compile(chain.graph, forward_backward(), standard_registry());
    straightened += straight(plan), looked_up += by_table(plan);
    State state = chain.observed(plan);
    run(plan, state);
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
