// The random walk of smoother.cpp with 10^6 steps: as one plate, next to a Kalman filter with Rauch-Tung-Striebel
// smoothing, and as scalar nodes one by one.
#include <malloc.h>

#include <memory>

#include "engine/compile/compile.h"
#include "engine/run/run.h"
#include "factors/standard_registry.h"
#include "schedules/forward_backward.h"
#include "tools/bench/comparison.h"
#include "tools/bench/plain_smoother.h"

namespace dma::bench {

namespace {

constexpr std::size_t kPlateSteps = 1000000;

struct PlateChain {
  Graph graph;
  VariableId x = graph.variable("x", kPlateSteps), y = graph.observed("y", kPlateSteps);

  PlateChain() {
    graph.factor("gaussian_prior", {gather(x, {0})}, {{"mean", 0.0}, {"variance", kFirstVariance}});
    graph.factor("gaussian_noise", {shift(x), x}, {{"variance", kStepVariance}});
    graph.factor("gaussian_noise", {x, y}, {{"variance", kReadingVariance}});
  }
};

void one_plate(benchmark::State& bench, Table& table) {
  const PlateChain chain;
  const Plan plan = compile(chain.graph, forward_backward(), standard_registry());
  State state(plan);
  const std::vector<double> data[2] = {readings(kPlateSteps, 0), readings(kPlateSteps, 1)};
  std::size_t turn = 0;
  Moments plain(kPlateSteps), engine(kPlateSteps);
  compare(
      bench, table,
      {.name = "chain of 10^6 as one plate: observe and run again",
       .bound = 2,
       .messages = static_cast<double>(plan.messages_per_sweep())},
      [&] {
        state.observe(chain.y, data[turn]);
        run(plan, state);
      },
      [&] { smooth_plainly(data[turn ^= 1], plain); });
  turn ^= 1;
  state.observe(chain.y, data[turn]);
  run(plan, state);
  smooth_plainly(data[turn], plain);
  const Belief belief = state.belief(chain.x);
  engine.mean = belief.means(), engine.variance = belief.variances();
  if (!agree(engine, plain)) return bench.SkipWithError("the engine and the plain smoother disagree");
  table.set({.name = "chain of 10^6 as one plate: memory per step",
             .value = static_cast<double>(plan.bytes()) / kPlateSteps,
             .bound = 100,
             .unit = "B"});
}

void compile_plate(benchmark::State& bench, Table& table) {
  const Registry registry = standard_registry();
  std::unique_ptr<Plan> plan;
  time_alone(
      bench, table, {.name = "chain of 10^6 as one plate: build and compile", .bound = 50},
      [&] {
        const PlateChain chain;
        plan = std::make_unique<Plan>(compile(chain.graph, forward_backward(), registry));
      },
      [&] { plan.reset(); });
}

double bytes_held() {
  const auto memory = mallinfo2();
  return static_cast<double>(memory.uordblks + memory.hblkhd);
}

void compile_nodes(benchmark::State& bench, Table& table) {
  const Registry registry = standard_registry();
  const double before = bytes_held();
  Graph graph;
  VariableId x = graph.variable("");
  graph.factor("gaussian_prior", {x}, {{"mean", 0.0}, {"variance", kFirstVariance}});
  for (std::size_t t = 0; t < kPlateSteps; ++t) {
    if (t > 0) {
      const VariableId last = std::exchange(x, graph.variable(""));
      graph.factor("gaussian_noise", {last, x}, {{"variance", kStepVariance}});
    }
    graph.factor("gaussian_noise", {x, graph.observed("")}, {{"variance", kReadingVariance}});
  }
  std::unique_ptr<Plan> plan;
  time_alone(
      bench, table, {.name = "chain of 10^6 scalar nodes: compile", .bound = 1000},
      [&] { plan = std::make_unique<Plan>(compile(graph, forward_backward(), registry)); }, [&] { plan.reset(); });
  plan = std::make_unique<Plan>(compile(graph, forward_backward(), registry));
  const State state(*plan);
  table.set({.name = "chain of 10^6 scalar nodes: memory per step, graph, plan and state",
             .value = (bytes_held() - before) / kPlateSteps,
             .bound = 400,
             .unit = "B"});
}

}  // namespace

void register_chain(Table& table) {
  benchmark::RegisterBenchmark("chain/one_plate", [&](benchmark::State& s) { one_plate(s, table); })->UseManualTime();
  benchmark::RegisterBenchmark("chain/compile_plate", [&](benchmark::State& s) { compile_plate(s, table); })->UseManualTime();
  benchmark::RegisterBenchmark("chain/compile_nodes", [&](benchmark::State& s) { compile_nodes(s, table); })->UseManualTime();
}

}  // namespace dma::bench
