// One step of a growing graph, ten steps long: the median and the slowest in a thousand.
#include "models/graphs/growing.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "factors/standard_registry.h"
#include "models/graphs/expressions.h"
#include "tools/bench/comparison.h"
#include "tools/experiments/paper/thread_seconds.h"

namespace dma::bench {

namespace {

constexpr int kTurns = 5;

// Sets two rows: the median, and what the slowest step in a thousand takes in units of it. A step's time is the least
// of some turns: other programs only make it longer.
template <class Step>
void steps(benchmark::State& bench, Table& table, const std::string& name, std::size_t count,
           const JointOptions& options, const Step& step) {
  constexpr std::size_t kWarmUp = 100;
  std::vector<double> times(count, kInfinity);
  for (const auto unused : bench) {
    (void)unused;
    GrowingGraph graph(standard_registry(), {.lag = 10, .joint = options});
    double total = 0;
    for (std::size_t t = 0; t < kWarmUp + count; ++t) {
      const double start = thread_seconds();
      step(graph, t);
      if (t < kWarmUp) continue;
      const double seconds = thread_seconds() - start;
      times[t - kWarmUp] = std::min(times[t - kWarmUp], 1e9 * seconds);
      total += seconds;
    }
    bench.SetIterationTime(total);
  }
  std::ranges::sort(times);
  const double half = times[count / 2], slowest = times[count - 1 - count / 1000];
  table.set({.name = name + ", median", .engine = half, .value = 1e-3 * half, .unit = "us"});
  table.set({.name = name + ", 99.9 % / median", .engine = slowest, .value = slowest / half, .bound = 3});
}

void level(benchmark::State& bench, Table& table) {
  VariableId before{0};
  steps(bench, table, "growing: a step of a level", 50'000, {}, [&](GrowingGraph& graph, std::size_t t) {
    Graph& g = graph.graph();
    const VariableId x = g.variable(""), y = g.observed("");
    if (t == 0)
      g.factor("gaussian_prior", {x}, {{"mean", 0.0}, {"variance", 100.0}});
    else
      g.factor("gaussian_noise", {before, x}, {{"variance", 0.01}});
    g.factor("gaussian_noise", {x, y}, {{"variance", 1.0}});
    graph.observe(y, {std::sin(0.001 * static_cast<double>(t)) + std::sin(7.0 * static_cast<double>(t))});
    graph.update();
    before = x;
  });
}

// Poses of the plane on a circle of eight steps, each measured from the one before.
void poses(benchmark::State& bench, Table& table, const std::string& name, const JointOptions& options) {
  VariableId before{0};
  std::vector<double> at(3);
  const SpreadMatrix noise = SpreadMatrix::covariance({0.01, 0, 0, 0, 0.01, 0, 0, 0, 0.0025});
  steps(bench, table, name, 5'000, options, [&](GrowingGraph& graph, std::size_t t) {
    Graph& g = graph.graph();
    const VariableId x = g.variable("", 1, "pose2");
    const double now = static_cast<double>(t), turn = 0.25 * std::numbers::pi + 0.02 * std::sin(7 * now);
    const std::vector<double> step = {1 + 0.05 * std::sin(3 * now), 0.05 * std::cos(5 * now), turn};
    if (t == 0) {
      at = {0, 0, 0};
      point_prior(g, x, at, noise);
    } else {
      at = graph.belief(before).means();
      const double c = std::cos(at[2]), s = std::sin(at[2]);
      at = {at[0] + c * step[0] - s * step[1], at[1] + s * step[0] + c * step[1], at[2] + step[2]};
      between(g, before, x, step, noise);
    }
    graph.start(x, at);
    graph.update();
    before = x;
  });
}

}  // namespace

void register_growing(Table& table) {
  add(table, "growing/level", level, kTurns);
  const auto walk = [](const char* name, const JointOptions& options) {
    return [=](benchmark::State& bench, Table& all) { poses(bench, all, name, options); };
  };
  add(table, "growing/poses", walk("growing: a step of poses", {.check_draws = 0}), kTurns);
  add(table, "growing/poses_checked", walk("growing: a step of poses, checked", {}), kTurns);
}

}  // namespace dma::bench
