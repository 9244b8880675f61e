// The random walk x_0 ~ N(0, kFirstVariance), x_t = x_(t-1) + noise, y_t = x_t + noise by hand: what chains and
// smoothers are measured against.
#include <malloc.h>

#include <cmath>
#include <cstddef>
#include <memory>
#include <vector>

#include "engine/compile/compile.h"
#include "engine/compile/plan_data.h"
#include "engine/run/run.h"
#include "factors/standard_registry.h"
#include "schedules/schedules.h"
#include "tools/bench/comparison.h"

namespace dma::bench {

namespace {

constexpr double kFirstVariance = 4, kStepVariance = 0.01, kReadingVariance = 0.25;

// Deterministic, and another phase gives other numbers everywhere.
std::vector<double> readings(std::size_t steps, double phase) {
  std::vector<double> y;
  for (std::size_t t = 0; t < steps; ++t)
    y.push_back(std::sin(0.01 * static_cast<double>(t) + phase) + 0.3 * std::cos(7.0 * static_cast<double>(t)));
  return y;
}

struct Moments {
  std::vector<double> mean, variance;

  explicit Moments(std::size_t steps) : mean(steps), variance(steps) {}
  bool agrees_with(const Moments& other) const {
    constexpr double kError = 1e-9;
    for (std::size_t t = 0; t < mean.size(); ++t)
      if (!(std::abs(mean[t] - other.mean[t]) <= kError && std::abs(variance[t] - other.variance[t]) <= kError))
        return false;
    return true;
  }
};

// Filter forward, keeping the filtered moments; then smooth backward in place: two divisions per step in all.
void smooth_plainly(const std::vector<double>& y, Moments& out) {
  double m = 0, v = kFirstVariance;
  for (std::size_t t = 0; t < y.size(); ++t) {
    if (t > 0) v += kStepVariance;
    const double gain = v / (v + kReadingVariance);
    m += gain * (y[t] - m);
    v *= 1 - gain;
    out.mean[t] = m;
    out.variance[t] = v;
  }
  for (std::size_t t = y.size() - 1; t-- > 0;) {
    const double predicted = out.variance[t] + kStepVariance, gain = out.variance[t] / predicted;
    m = out.mean[t] += gain * (m - out.mean[t]);
    v = out.variance[t] += gain * gain * (v - predicted);
  }
}

constexpr std::size_t kChainSteps = 10000, kPlateSteps = 1000000;

// The walk as scalar nodes built one by one.
struct RandomWalk {
  Graph graph;
  std::vector<VariableId> x, y;

  explicit RandomWalk(std::size_t steps = kChainSteps) {
    x.push_back(graph.variable(""));
    graph.factor("gaussian_prior", {x[0]}, {{"mean", 0.0}, {"variance", kFirstVariance}});
    for (std::size_t t = 0; t < steps; ++t) {
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
  if (!engine.agrees_with(plain)) return bench.SkipWithError("the engine and the plain smoother disagree");
  table.set({.name = "smoother: memory per edge slot",
             .value = static_cast<double>(plan.bytes()) / plan->slots,
             .bound = 48,
             .unit = "B"});
}

double bytes_held() {
  const auto memory = mallinfo2();
  return static_cast<double>(memory.uordblks + memory.hblkhd);
}

void compile_nodes(benchmark::State& bench, Table& table) {
  const Registry registry = standard_registry();
  const double before = bytes_held();
  RandomWalk walk(kPlateSteps);
  for (std::vector<VariableId>* own : {&walk.x, &walk.y}) std::vector<VariableId>().swap(*own);  // the user's
  std::unique_ptr<Plan> plan;
  time_alone(
      bench, table, {.name = "chain of 10^6 scalar nodes: compile", .bound = 1000},
      [&] { plan = std::make_unique<Plan>(compile(walk.graph, forward_backward(), registry)); }, [&] { plan.reset(); });
  plan = std::make_unique<Plan>(compile(walk.graph, forward_backward(), registry));
  const State state(*plan);
  table.set({.name = "chain of 10^6 scalar nodes: memory per step, graph, plan and state",
             .value = (bytes_held() - before) / kPlateSteps,
             .bound = 400,
             .unit = "B"});
}

}  // namespace

void register_smoother(Table& table) {
  add(table, "smoother/first_result", first_result);
  add(table, "smoother/repeated_run", repeated_run);
  add(table, "chain/compile_nodes", compile_nodes);
}

}  // namespace dma::bench
