// The 1-D random walk x_t = x_(t-1) + noise, y_t = x_t + noise, as 10,000 scalar nodes built one by one, next to a
// Kalman filter with Rauch-Tung-Striebel smoothing.
#include <cmath>
#include <memory>

#include "engine/compile/compile.h"
#include "engine/run/run.h"
#include "factors/standard_registry.h"
#include "schedules/forward_backward.h"
#include "tools/bench/comparison.h"

namespace dma::bench {

namespace {

constexpr std::size_t kChainSteps = 10000;
constexpr double kChainPrior = 4, kStepVariance = 0.01, kChainNoise = 0.25;

// Deterministic and never the same twice in a row.
std::vector<double> series(double phase) {
  std::vector<double> y;
  for (std::size_t t = 0; t < kChainSteps; ++t)
    y.push_back(std::sin(0.01 * static_cast<double>(t) + phase) + 0.3 * std::cos(7.0 * static_cast<double>(t)));
  return y;
}

struct RandomWalk {
  Graph graph;
  std::vector<VariableId> x, y;

  RandomWalk() {
    x.push_back(graph.variable(""));
    graph.factor("gaussian_prior", {x[0]}, {{"mean", 0.0}, {"variance", kChainPrior}});
    for (std::size_t t = 0; t < kChainSteps; ++t) {
      if (t > 0) {
        x.push_back(graph.variable(""));
        graph.factor("gaussian_noise", {x[t - 1], x[t]}, {{"variance", kStepVariance}});
      }
      y.push_back(graph.observed(""));
      graph.factor("gaussian_noise", {x[t], y[t]}, {{"variance", kChainNoise}});
    }
  }

  void observe(State& state, const std::vector<double>& values) const {
    for (std::size_t t = 0; t < kChainSteps; ++t) state.observe(y[t], values[t]);
  }
  // Mean and variance of every step.
  void read(const State& state, std::vector<double>& mean, std::vector<double>& variance) const {
    for (std::size_t t = 0; t < kChainSteps; ++t) {
      const Belief belief = state.belief(x[t]);
      mean[t] = belief.mean();
      variance[t] = belief.variance();
    }
  }
};

struct ChainMoments {
  std::vector<double> mean = std::vector<double>(kChainSteps), variance = std::vector<double>(kChainSteps);
};

// Filter forward, keeping the filtered moments; then smooth backward in place: two divisions a step in all.
void smooth(const std::vector<double>& y, ChainMoments& out) {
  double m = 0, v = kChainPrior;
  for (std::size_t t = 0; t < kChainSteps; ++t) {
    if (t > 0) v += kStepVariance;
    const double gain = v / (v + kChainNoise);
    m += gain * (y[t] - m);
    v *= 1 - gain;
    out.mean[t] = m;
    out.variance[t] = v;
  }
  for (std::size_t t = kChainSteps - 1; t-- > 0;) {
    const double predicted = out.variance[t] + kStepVariance, gain = out.variance[t] / predicted;
    m = out.mean[t] += gain * (m - out.mean[t]);
    v = out.variance[t] += gain * gain * (v - predicted);
  }
}

void first_result(benchmark::State& bench, Table& table) {
  const std::vector<double> y = series(0);
  const Registry registry = standard_registry();
  ChainMoments out;
  std::unique_ptr<RandomWalk> walk;
  std::unique_ptr<Plan> plan;
  std::unique_ptr<State> state;
  time_alone(
      bench, table, {.name = "smoother: build, compile, first result", .bound = 20},
      [&] {
        walk = std::make_unique<RandomWalk>();
        plan = std::make_unique<Plan>(compile(walk->graph, forward_backward(), registry));
        state = std::make_unique<State>(*plan);
        walk->observe(*state, y);
        run(*plan, *state);
        walk->read(*state, out.mean, out.variance);
      },
      [&] { state.reset(), plan.reset(), walk.reset(); });
}

void repeated_run(benchmark::State& bench, Table& table) {
  const RandomWalk walk;
  const Plan plan = compile(walk.graph, forward_backward(), standard_registry());
  State state(plan);
  const std::vector<double> data[2] = {series(0), series(1)};
  std::size_t turn = 0;
  ChainMoments plain, engine;
  compare(
      bench, table,
      {.name = "smoother: observe and run again",
       .bound = 3,
       .messages = static_cast<double>(plan.messages_per_sweep())},
      [&] {
        walk.observe(state, data[turn]);
        run(plan, state);
      },
      [&] { smooth(data[turn ^= 1], plain); });
  // Both must have computed the same thing.
  turn ^= 1;
  walk.observe(state, data[turn]);
  run(plan, state);
  walk.read(state, engine.mean, engine.variance);
  smooth(data[turn], plain);
  for (std::size_t t = 0; t < kChainSteps; ++t)
    if (std::abs(engine.mean[t] - plain.mean[t]) > 1e-9 || std::abs(engine.variance[t] - plain.variance[t]) > 1e-9)
      return bench.SkipWithError("the engine and the plain smoother disagree");
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
