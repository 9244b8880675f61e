// Loopy linear-Gaussian graphs: where the iteration converges, its means are exact (its variances are not); where it
// does not, the report says so and every number is finite.
#include <doctest/doctest.h>

#include <cmath>

#include "engine/compile/compile.h"
#include "engine/run/run.h"
#include "factors/standard_registry.h"
#include "schedules/flooding.h"
#include "schedules/forward_backward.h"
#include "schedules/residual.h"
#include "schedules/sequential.h"
#include "tests/oracles/dense_gaussian.h"
#include "tests/oracles/random_graphs.h"
#include "tests/oracles/random_messages.h"

namespace {

using namespace dma;
using oracle::GivenGraph;

constexpr double kTolerance = 1e-8;

double largest_mean_error(const GivenGraph& given, const State& state) {
  const auto truth = oracle::dense_posterior(given.graph, given.observed);
  double worst = 0;
  for (std::uint32_t v = 0; v < given.graph.variables().size(); ++v)
    worst = std::max(worst, std::abs(state.belief(VariableId{v}).mean() - truth.mean[v]));
  return worst;
}

void check_converges(const GivenGraph& given) {
  for (const double damping : {0.0, 0.4})
    for (const auto& rule : {flooding, sequential, residual}) {
      const Plan plan =
          compile(given.graph, rule({.tolerance = 1e-12, .limit = 3000, .damping = damping}), standard_registry());
      State state(plan);
      given.observe_in(state);
      const Report report = run(plan, state);
      CAPTURE(plan->schedule.name);
      CAPTURE(damping);
      CHECK_MESSAGE(report.stop == Report::Stop::converged, report.line());
      CHECK(report.change <= 1e-12);
      CHECK(report.sweeps > 2);
      CHECK(largest_mean_error(given, state) <= kTolerance);
    }
}

// Six coefficients and as many observed weighted sums of all of them, against weak priors: each sum answers for six
// variables at once, and the means of loopy messages swing with growing amplitude.
GivenGraph diverging() {
  constexpr std::size_t kVariables = 6;
  oracle::RandomMessages random(1);
  GivenGraph given;
  std::vector<Connection> ends;
  for (std::size_t i = 0; i < kVariables; ++i) {
    ends.emplace_back(given.graph.variable(""));
    given.graph.factor("gaussian_prior", {ends.back()}, {{"mean", 1.0}, {"variance", 100.0}});
  }
  for (std::size_t k = 0; k < kVariables; ++k) {
    std::vector<double> coefficients;
    for (std::size_t i = 0; i < kVariables; ++i) coefficients.push_back(random.sign() * random.log_uniform({0.3, 3}));
    const VariableId total = given.graph.variable(""), seen = given.graph.observed("");
    auto with_total = ends;
    with_total.emplace_back(total);
    given.graph.factor("sum", with_total, {{"coefficients", coefficients}});
    given.graph.factor("gaussian_noise", {total, seen}, {{"variance", 1.0}});
    given.observed[seen.value] = static_cast<double>(k) - 2.0;
  }
  return given;
}

}  // namespace

TEST_CASE("loops: a ring reaches the dense solution's means with every iterative schedule") {
  for (const double coupling : {0.5, -0.9, 1.0}) {
    CAPTURE(coupling);
    check_converges(oracle::ring(11, 7, coupling));
  }
}

TEST_CASE("loops: a grid reaches the dense solution's means with every iterative schedule") {
  check_converges(oracle::grid(12, 5));
}

TEST_CASE("loops: one example of a converging loop is not solved by a single pass") {
  const GivenGraph given = oracle::ring(11, 7, 1.0);
  const Plan plan = compile(given.graph, forward_backward(), standard_registry());
  State state(plan);
  given.observe_in(state);
  CHECK(run(plan, state).stop == Report::Stop::approximate);
  CHECK(largest_mean_error(given, state) > 1e-3);
}

TEST_CASE("loops: a diverging iteration says so before its limit, with finite numbers") {
  const GivenGraph given = diverging();
  for (const int limit : {40, 1000, 5000})
    for (const auto& rule : {flooding, sequential, residual}) {
      const Plan plan = compile(given.graph, rule({.limit = limit}), standard_registry());
      State state(plan);
      given.observe_in(state);
      const Report report = run(plan, state);
      CAPTURE(plan->schedule.name);
      CAPTURE(limit);
      CHECK_MESSAGE(!report.converged(), report.line());
      if (limit > 40) CHECK_MESSAGE(report.stop == Report::Stop::diverged, report.line());
      CHECK(report.sweeps < 1500);  // far before a limit of 5000
      for (std::uint32_t v = 0; v < given.graph.variables().size(); ++v) {
        const Belief belief = state.belief(VariableId{v});
        CHECK(std::isfinite(belief.mean()));
        CHECK(belief[0].rho > 0);
      }
    }
}

TEST_CASE("loops: too few sweeps for the news to arrive is the limit, not divergence") {
  // A chain of 60 noise factors between a prior and an observation; flooding moves news by one variable a sweep.
  Graph graph;
  VariableId last = graph.variable("");
  graph.factor("gaussian_prior", {last}, {{"mean", 0.0}, {"variance", 1.0}});
  for (int t = 0; t < 60; ++t) {
    const VariableId next = graph.variable("");
    graph.factor("gaussian_noise", {last, next}, {{"variance", 1.0}});
    last = next;
  }
  for (const int limit : {1, 2, 3, 4, 16}) {
    const Plan plan = compile(graph, flooding({.limit = limit}), standard_registry());
    State state(plan);
    CAPTURE(limit);
    CHECK(run(plan, state).stop == Report::Stop::limit);
  }
}
