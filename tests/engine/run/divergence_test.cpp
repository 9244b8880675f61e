// Diverging iterations, and slowly converging ones.
#include "engine/run/divergence.h"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "engine/compile/compile.h"
#include "engine/run/run.h"
#include "factors/standard_registry.h"
#include "schedules/flooding.h"
#include "schedules/residual.h"
#include "schedules/sequential.h"
#include "tests/oracles/random_graphs.h"

namespace {

using namespace dma;

// The sweep at which messages with these means and standard deviation 1 are reported as diverging; 0: not within the
// limit.
int runs_away_at(int limit, const std::function<double(int)>& mean) {
  std::vector<double> tau{0.3, 0}, rho{1, 1};
  std::vector<DivergenceRecord> records(tau.size());
  Divergence divergence(records, {tau.data(), rho.data()});
  for (int sweep = 1; sweep <= limit; ++sweep) {
    const Natural before{tau[1], rho[1]};
    tau[1] = mean(sweep);
    if (divergence.runs_away(sweep, change_between(before, {tau[1], rho[1]}))) return sweep;
  }
  return divergence.was_growing() ? -1 : 0;
}

// Position and velocity as scalar variables: position + velocity = next position, each with noise; positions observed.
struct ConstantVelocity {
  static constexpr std::size_t kSteps = 50;
  Graph graph;
  std::vector<VariableId> all, seen;

  ConstantVelocity() {
    VariableId position = variable(), velocity = variable();
    graph.factor("gaussian_prior", {position}, {{"mean", 0.0}, {"variance", 100.0}});
    graph.factor("gaussian_prior", {velocity}, {{"mean", 0.0}, {"variance", 100.0}});
    for (std::size_t t = 0; t < kSteps; ++t) {
      seen.push_back(graph.observed(""));
      graph.factor("gaussian_noise", {position, seen.back()}, {{"variance", 1.0}});
      const VariableId moved = variable(), next = variable(), next_velocity = variable();
      graph.factor("sum", {position, velocity, moved});
      graph.factor("gaussian_noise", {moved, next}, {{"variance", 0.1}});
      graph.factor("gaussian_noise", {velocity, next_velocity}, {{"variance", 0.1}});
      position = next, velocity = next_velocity;
    }
  }
  VariableId variable() { return all.emplace_back(graph.variable("")); }
  void observe(State& state) const {
    for (std::size_t t = 0; t < kSteps; ++t)
      state.observe(seen[t], 0.5 * static_cast<double>(t) + std::sin(static_cast<double>(t)));
  }
};

}  // namespace

TEST_CASE("divergence: powers of a factor above 1 run away, the sooner the larger the factor") {
  int before = 0;
  for (const double factor : {1e6, 10.0, 1.5, 1.1, 1.03}) {
    const int at = runs_away_at(20'000, [&](int t) { return std::pow(factor, t); });
    CAPTURE(factor);
    CHECK(at > 0);
    CHECK(at >= before);
    before = at;
  }
  CHECK(runs_away_at(20'000, [](int t) { return std::pow(1.5, t); }) < 100);
  CHECK(runs_away_at(20'000, [](int t) { return std::pow(-1.5, t); }) < 100);
  CHECK(runs_away_at(20'000, [](int t) { return std::pow(1.2, t) * std::cos(0.7 * t); }) > 0);
}

TEST_CASE("divergence: an approach to a large value, however slow, does not run away") {
  for (const double rate : {0.5, 1e-2, 1e-4, 1e-6})
    for (const double value : {3.0, 1e6, 1e12}) {
      CAPTURE(rate);
      CAPTURE(value);
      CHECK(runs_away_at(20'000, [&](int t) { return value * -std::expm1(-rate * t); }) == 0);
    }
  CHECK(runs_away_at(20'000, [](int t) { return 1e9 * std::sin(0.3 * t); }) == 0);
  CHECK(runs_away_at(20'000, [](int t) { return t < 500 ? 0.1 : 1e15; }) == 0);
}

TEST_CASE("divergence: an undamped run of a constant-velocity model reports divergence early, with finite numbers") {
  const ConstantVelocity model;
  for (const int limit : {300, 20'000}) {
    State state(compile(model.graph, sequential({.limit = limit}), standard_registry()));
    model.observe(state);
    const Report report = run(state.plan(), state);
    CHECK_MESSAGE(report.stop == Report::Stop::diverged, report.line());
    CHECK(!report.converged());
    CHECK(report.sweeps <= 300);
    for (const VariableId v : model.all) {
      CHECK(std::isfinite(state.belief(v).mean()));
      CHECK(std::isfinite(state.belief(v).variance()));
    }
  }
}

TEST_CASE("divergence: a damped run that creeps towards its fixed point has reached the limit, and has not diverged") {
  const oracle::GivenGraph given = oracle::ring(11, 7, 1.0);
  for (const double damping : {0.9, 0.999, 0.99999})
    for (const auto& rule : {flooding, sequential, residual}) {
      State state(
          compile(given.graph, rule({.tolerance = 1e-14, .limit = 120, .damping = damping}), standard_registry()));
      given.observe_in(state);
      const Report report = run(state.plan(), state);
      CAPTURE(damping);
      CHECK_MESSAGE(report.stop == Report::Stop::limit, report.line());
    }
}

TEST_CASE("divergence: precisions that double until they overflow are not called converged") {
  // One copy's message to y returns to x through the two others, and so is counted twice.
  Graph g;
  const auto x = g.variable("x"), y = g.variable("y");
  g.factor("gaussian_prior", {x}, {{"mean", 1.0}, {"variance", 1.0}});
  for (int i = 0; i < 3; ++i) g.factor("copy", {x, y});
  for (const auto& rule : {flooding, sequential, residual}) {
    State state(compile(g, rule({.limit = 20'000}), standard_registry()));
    const Report report = run(state.plan(), state);
    CHECK_MESSAGE(!report.converged(), report.line());
  }
}
