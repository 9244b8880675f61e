// Diverging iterations, and slowly converging ones.
#include "engine/run/divergence.h"

#include "tests/oracles/random_graphs.h"
#include "tests/oracles/solved.h"

namespace {

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
      INFO("rate ", rate, ", value ", value);
      CHECK(runs_away_at(20'000, [&](int t) { return value * -std::expm1(-rate * t); }) == 0);
    }
  CHECK(runs_away_at(20'000, [](int t) { return 1e9 * std::sin(0.3 * t); }) == 0);
  CHECK(runs_away_at(20'000, [](int t) { return t < 500 ? 0.1 : 1e15; }) == 0);
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
    const Report report = oracle::solved(compile(g, rule({.limit = 20'000}), standard_registry())).report;
    CHECK_MESSAGE(!report.converged(), report.line());
  }
}
