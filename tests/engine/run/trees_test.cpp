// On a tree, message passing is exact: every belief is the marginal of the joint Gaussian.
#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "engine/compile/compile.h"
#include "engine/compile/plan_data.h"
#include "engine/run/run.h"
#include "factors/standard_registry.h"
#include "schedules/flooding.h"
#include "schedules/forward_backward.h"
#include "schedules/residual.h"
#include "schedules/sequential.h"
#include "tests/oracles/dense_gaussian.h"
#include "tests/oracles/random_graphs.h"

namespace {

using namespace dma;
using oracle::DensePosterior;
using oracle::GivenGraph;

// The dense solve of a system of 500 unknowns of order 1 loses at most 4 digits.
constexpr double kTreeError = 1e-9;
constexpr std::uint64_t kTreeSeed = 7;

// The largest error of any belief: means in units of max(1, |mean|), variances relative to the prior scale 1 or to
// themselves.
double largest_error(const GivenGraph& given, const State& state, const DensePosterior& truth) {
  double worst = 0;
  for (std::uint32_t v = 0; v < given.graph.variables().size(); ++v) {
    const Belief belief = state.belief(VariableId{v});
    worst = std::max(worst, std::abs(belief.mean() - truth.mean[v]) / std::max(1.0, std::abs(truth.mean[v])));
    worst =
        std::max(worst, std::abs(belief.variance() - truth.variance[v]) / std::max(1.0, std::abs(truth.variance[v])));
  }
  return worst;
}

std::size_t random_size(std::uint64_t seed) {
  const double fraction = static_cast<double>(seed * 7919 % 200) / 199;
  return 2 + static_cast<std::size_t>(298 * fraction * fraction);
}

}  // namespace

TEST_CASE("trees: forward_backward equals the dense solve on 200 random trees of up to 300 variables") {
  const Registry registry = standard_registry();
  double worst = 0;
  std::size_t largest = 0;
  for (std::uint64_t i = 0; i < 200; ++i) {
    const GivenGraph given = oracle::random_tree(kTreeSeed + i, random_size(i));
    const Plan plan = compile(given.graph, forward_backward(), registry);
    State state(plan);
    given.observe_in(state);
    const Report report = run(plan, state);
    CHECK(report.faults == 0);
    const double error = largest_error(given, state, oracle::dense_posterior(given.graph, given.observed));
    CHECK_MESSAGE(error <= kTreeError, "seed ", kTreeSeed + i, ", ", given.graph.variables().size(), " variables");
    worst = std::max(worst, error);
    largest = std::max(largest, given.graph.variables().size());
  }
  MESSAGE("200 trees, the largest of ", largest, " variables: worst error ", worst, ", seed ", kTreeSeed);
  CHECK(largest >= 300);
}

TEST_CASE("trees: flooding, sequential and residual reach the dense solution, damped or not") {
  const Registry registry = standard_registry();
  for (std::uint64_t i = 0; i < 12; ++i) {
    const GivenGraph given = oracle::random_tree(1000 + i, 5 + 8 * i);
    const DensePosterior truth = oracle::dense_posterior(given.graph, given.observed);
    for (const double damping : {0.0, 0.3})
      for (const auto& rule : {flooding, sequential, residual}) {
        // On a tree an undamped message is final after as many sweeps as its depth; a damped one approaches it as
        // 0.3^n.
        const Iteration iteration{.tolerance = 1e-13, .limit = 2000, .damping = damping};
        const Plan plan = compile(given.graph, rule(iteration), registry);
        State state(plan);
        given.observe_in(state);
        const Report report = run(plan, state);
        CAPTURE(plan->schedule.name);
        CAPTURE(damping);
        CAPTURE(i);
        CHECK_MESSAGE(report.stop == Report::Stop::converged, report.line());
        CHECK(largest_error(given, state, truth) <= kTreeError);
      }
  }
}

TEST_CASE("trees: a chain of 100,000 variables equals a hand-written Kalman and RTS smoother") {
  constexpr std::size_t kSteps = 100'000;
  constexpr double kDrift = 0.3, kNoise = 0.5;
  Graph graph;
  std::vector<VariableId> x, y;
  for (std::size_t t = 0; t < kSteps; ++t) {
    x.push_back(graph.variable(""));
    y.push_back(graph.observed(""));
    if (t == 0)
      graph.factor("gaussian_prior", {x[0]}, {{"mean", 0.0}, {"variance", 1.0}});
    else
      graph.factor("gaussian_noise", {x[t - 1], x[t]}, {{"variance", kDrift}});
    graph.factor("gaussian_noise", {x[t], y[t]}, {{"variance", kNoise}});
  }
  const Plan plan = compile(graph, forward_backward(), standard_registry());
  State state(plan);
  std::vector<double> values;
  for (std::size_t t = 0; t < kSteps; ++t) {
    values.push_back(std::sin(0.001 * static_cast<double>(t * t % 6283)));
    state.observe(y[t], values.back());
  }
  CHECK(run(plan, state).faults == 0);

  std::vector<double> mean(kSteps), variance(kSteps), predicted(kSteps, 1.0);
  for (std::size_t t = 0; t < kSteps; ++t) {
    if (t > 0) predicted[t] = variance[t - 1] + kDrift;
    const double gain = predicted[t] / (predicted[t] + kNoise), before = t > 0 ? mean[t - 1] : 0.0;
    mean[t] = before + gain * (values[t] - before);
    variance[t] = (1 - gain) * predicted[t];
  }
  double worst = 0, m = mean.back(), v = variance.back();
  for (std::size_t t = kSteps; t-- > 0;) {
    if (t + 1 < kSteps) {
      const double gain = variance[t] / predicted[t + 1];
      m = mean[t] + gain * (m - mean[t]);
      v = variance[t] + gain * gain * (v - predicted[t + 1]);
    }
    const Belief belief = state.belief(x[t]);
    worst = std::max({worst, std::abs(belief.mean() - m), std::abs(belief.variance() - v)});
  }
  // Both recursions forget rounding at the rate of the filter: it does not accumulate along the chain.
  CHECK(worst <= 1e-12);
}
