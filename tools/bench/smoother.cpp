// The 1-D random walk x_t = x_(t-1) + noise, y_t = x_t + noise, as 10,000 scalar nodes built one by one, next to a
// Kalman filter with Rauch-Tung-Striebel smoothing.
#include <memory>

#include "engine/compile/compile.h"
#include "engine/run/run.h"
#include "factors/standard_registry.h"
#include "schedules/forward_backward.h"
#include "tools/bench/comparison.h"
#include "tools/bench/plain_smoother.h"

namespace dma::bench {

namespace {

constexpr std::size_t kChainSteps = 10000;

struct RandomWalk {
  Graph graph;
  std::vector<VariableId> x, y;

  RandomWalk() {
    x.push_back(graph.variable(""));
    graph.factor("gaussian_prior", {x[0]}, {{"mean", 0.0}, {"variance", kFirstVariance}});
    for (std::size_t t = 0; t < kChainSteps; ++t) {
      if (t > 0) {
        x.push_back(graph.variable(""));
        graph.factor("gaussian_noise", {x[t - 1], x[t]}, {{"variance", kStepVariance}});
      }
      y.push_back(graph.observed(""));
      graph.factor("gaussian_noise", {x[t], y[t]}, {{"variance", kReadingVariance}});
    }
  }

  void observe(State& state, const std::vector<double>& values) const {
    for (std::size_t t = 0; t < kChainSteps; ++t) state.observe(y[t], values[t]);
  }
  // Mean and variance of every step.
  void read(const State& state, Moments& out) const {
    for (std::size_t t = 0; t < kChainSteps; ++t) {
      const Belief belief = state.belief(x[t]);
      out.mean[t] = belief.mean();
      out.variance[t] = belief.variance();
    }
  }
};

void first_result(benchmark::State& bench, Table& table) {
  const std::vector<double> y = readings(kChainSteps, 0);
  const Registry registry = standard_registry();
  Moments out(kChainSteps);
  std::unique_ptr<RandomWalk> walk;
  std::unique_ptr<Plan> plan;
  std::unique_ptr<State> state;
  time_alone(
      bench, table, {.name = "smoother: build, compile, first result", .bound = 8},
      [&] {
        walk = std::make_unique<RandomWalk>();
        plan = std::make_unique<Plan>(compile(walk->graph, forward_backward(), registry));
        state = std::make_unique<State>(*plan);
        walk->observe(*state, y);
        run(*plan, *state);
        walk->read(*state, out);
      },
      [&] { state.reset(), plan.reset(), walk.reset(); });
}

void repeated_run(benchmark::State& bench, Table& table) {
  const RandomWalk walk;
  const Plan plan = compile(walk.graph, forward_backward(), standard_registry());
  State state(plan);
  const std::vector<double> data[2] = {readings(kChainSteps, 0), readings(kChainSteps, 1)};
  std::size_t turn = 0;
  Moments plain(kChainSteps), engine(kChainSteps);
  compare(
      bench, table,
      {.name = "smoother: observe and run again",
       .bound = 2,
       .messages = static_cast<double>(plan.messages_per_sweep())},
      [&] {
        walk.observe(state, data[turn]);
        run(plan, state);
      },
      [&] { smooth_plainly(data[turn ^= 1], plain); });
  // Both must have computed the same thing.
  turn ^= 1;
  walk.observe(state, data[turn]);
  run(plan, state);
  walk.read(state, engine);
  smooth_plainly(data[turn], plain);
  if (!agree(engine, plain)) return bench.SkipWithError("the engine and the plain smoother disagree");
  table.set({.name = "smoother: memory per edge slot",
             .value = static_cast<double>(plan.bytes()) / plan->slots,
             .bound = 48,
             .unit = "B"});
}

}  // namespace

void register_smoother(Table& table) {
  benchmark::RegisterBenchmark("smoother/first_result", [&](benchmark::State& s) {
    first_result(s, table);
  })->UseManualTime();
  benchmark::RegisterBenchmark("smoother/repeated_run", [&](benchmark::State& s) {
    repeated_run(s, table);
  })->UseManualTime();
}

}  // namespace dma::bench
