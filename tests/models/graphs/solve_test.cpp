// solve() takes the solver that is exact where there is one, and says which and why.
#include "models/graphs/model.h"

#include <doctest/doctest.h>

#include <cmath>

#include "engine/support/text.h"
#include "factors/standard_registry.h"
#include "schedules/schedules.h"
#include "tests/oracles/dense_gaussian.h"
#include "tests/oracles/random_graphs.h"
#include "tests/oracles/relative.h"

namespace {

using namespace dma;

// Two readings of a and b, which a table joins in a loop: P(a = b) is 0.8 twice.
struct SolvedCoins {
  Graph graph;
  VariableId a = graph.variable("a", 1, "categorical(2)"), b = graph.variable("b", 1, "categorical(2)");
  SolvedCoins() {
    graph.factor("categorical_prior", {a}, {{"probability", {0.7, 0.3}}});
    for (int i = 0; i < 2; ++i) graph.factor("potential", {a, b}, {{"weight", {0.8, 0.2, 0.2, 0.8}}});
  }
};

}  // namespace

TEST_CASE("solve: one sweep of a tree, all at once with loops, as the dense solve has it") {
  for (const bool is_tree : {true, false}) {
    const oracle::GivenGraph given = is_tree ? oracle::random_tree(5, 30) : oracle::grid(5, 4);
    GivenValues values;
    for (const auto& [v, value] : given.observed) values.emplace_back(VariableId{v}, value);
    const Answer answer = solve(given.graph, values);
    CHECK(answer.solver == (is_tree ? "forward_backward" : "joint"));
    CHECK(answer.why ==
          (is_tree ? "one sweep is exact" : "one sweep would be approximate, and all that is unknown is Gaussian"));
    CHECK(answer.report.stop == Report::Stop::exact);
    CHECK(answer.evidence().is_exact);
    const auto truth = oracle::dense_posterior(given.graph, given.observed);
    for (std::uint32_t v = 0; v < given.graph.variables().size(); ++v) {
      CHECK(answer[VariableId{v}].mean() == oracle::relative(truth.mean[v], 1e-8, 1));
      CHECK(answer[VariableId{v}].variance() == oracle::relative(truth.variance[v], 1e-8, 1));
    }
  }
}

TEST_CASE("solve: discrete loops by cliques, as enumeration has it; another way if asked") {
  const SolvedCoins coins;
  const double one = 0.3 * (0.8 * 0.8 + 0.2 * 0.2), zero = 0.7 * (0.8 * 0.8 + 0.2 * 0.2);
  const Answer answer = solve(coins.graph);
  CHECK(answer.solver == "exact");
  CHECK(answer[coins.a].means()[1] == doctest::Approx(one / (one + zero)));
  const double b = (0.3 * 0.64 + 0.7 * 0.04) / (one + zero);
  CHECK(answer[coins.b].means()[1] == doctest::Approx(b));
  const Answer swept = solve(coins.graph, {}, flooding());
  CHECK(swept.solver == "flooding");
  CHECK(swept.why == "as asked");
  CHECK(swept.report.line().find("approximate: the graph has loops; compare with exact()") != std::string::npos);
  CHECK(fmt::format("{}", swept).starts_with("flooding: as asked\nconverged after "));
}

TEST_CASE("solve: neither discrete nor Gaussian is swept") {
  Graph g;
  const auto x = g.variable("x"), tau = g.variable("tau", 1, "gamma"), y = g.observed("y", 3);
  g.factor("gaussian_prior", {x}, {{"mean", 0.0}, {"variance", 100.0}});
  g.factor("gamma_prior", {tau}, {{"shape", 2.0}, {"rate", 2.0}});
  g.factor("gaussian_precision", {all_to_one(x), all_to_one(tau), y});
  const Answer answer = solve(g, {{y, {1.0, 2.0, 4.0}}}, {.compile = {.method = "vmp", .fuse = false}});
  CHECK(answer.solver == "flooding");
  CHECK(answer.report.converged());
}

TEST_CASE("solve: a missing value is predicted, and other values are copied") {
  Graph g;
  const auto x = g.variable("x"), y = g.observed("y", 3);
  g.factor("gaussian_prior", {x}, {{"mean", 0.0}, {"variance", 1.0}});
  g.factor("gaussian_noise", {all_to_one(x), y}, {{"variance", 1.0}});
  std::vector<double> numbers{1.0, 2.0, 3.0};
  const GivenValues kept{{y, numbers}};
  numbers.clear();
  CHECK(solve(g, kept)[x].mean() == doctest::Approx(1.5));
  const Answer answer = solve(g, {{y, {1.0, std::nullopt, 3.0}}});
  CHECK(answer[x].mean() == doctest::Approx(4.0 / 3));
  CHECK(answer[y].variances()[1] == doctest::Approx(1 + 1.0 / 3));
}

TEST_CASE("solve: one list of names, each of which is solved by") {
  CHECK(solver_names().front() == "auto");
  const SolvedCoins coins;
  for (const NamedSolver& one : named_solvers()) {
    CHECK(!one.summary.empty());
    if (one.name == "joint") continue;  // discrete variables are not for it
    CHECK(solve(coins.graph, {}, solver_named(one.name)).solver == one.name);
  }
  CHECK_THROWS_WITH_AS(solver_named("floodin"), doctest::Contains("did you mean 'flooding'"), Error);
}
