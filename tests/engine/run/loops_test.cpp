// Loopy linear-Gaussian graphs: if the iteration converges, its means are exact (its variances are not); if not, the
// report says so and every number is finite. Loops are detected slot by slot, not variable by variable.
#include "tests/oracles/dense_gaussian.h"
#include "tests/oracles/random_graphs.h"
#include "tests/oracles/random_messages.h"
#include "tests/oracles/solved.h"

namespace {

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
      const auto [plan, state, report] = oracle::solved(
          compile(given.graph, rule({.tolerance = 1e-12, .limit = 3000, .damping = damping}), standard_registry()),
          given.values());
      INFO("plan->schedule.name ", plan->schedule.name, ", damping ", damping);
      CHECK_MESSAGE(report.stop == Report::Stop::converged, report.line());
      CHECK(report.change <= 1e-12);
      CHECK(report.sweeps > 2);
      CHECK(largest_mean_error(given, state) <= kTolerance);
    }
}

// Six coefficients and as many observed weighted sums of all of them, with weak priors: each sum joins six variables at
// once, and the means of loopy messages oscillate with growing amplitude.
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

TEST_CASE("loops: rings and a grid reach the dense solution's means with every iterative schedule") {
  for (const double coupling : {0.5, -0.9, 1.0}) check_converges(oracle::ring(11, 7, coupling));
  check_converges(oracle::grid(12, 5));
}

TEST_CASE("loops: one example of a converging loop is not solved by a single pass") {
  const GivenGraph given = oracle::ring(11, 7, 1.0);
  const auto [plan, state, report] =
      oracle::solved(compile(given.graph, forward_backward(), standard_registry()), given.values());
  CHECK(report.stop == Report::Stop::approximate);
  CHECK(largest_mean_error(given, state) > 1e-3);
}

TEST_CASE("loops: a diverging iteration is reported before its limit, with finite numbers") {
  const GivenGraph given = diverging();
  for (const int limit : {40, 1000, 5000})
    for (const auto& rule : {flooding, sequential, residual}) {
      const auto [plan, state, report] =
          oracle::solved(compile(given.graph, rule({.limit = limit}), standard_registry()), given.values());
      INFO("plan->schedule.name ", plan->schedule.name, ", limit ", limit);
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
  // A chain of 60 noise factors between a prior and an observation; flooding carries information by one variable per
  // sweep.
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

TEST_CASE("loops: a cycle inside one array is named") {
  Graph g;
  const auto x = g.variable("x", 3);
  g.factor("gaussian_prior", {x}, {{"mean", 0.0}, {"variance", 1.0}});
  g.factor("gaussian_noise", {gather(x, {0, 1, 2}), gather(x, {1, 2, 0})}, {{"variance", 1.0}});
  CHECK_THROWS_WITH_AS(compile(g, forward_backward(), standard_registry()),
                       doctest::Contains("the data flow has a cycle: x"), Error);
  State state(compile(g, flooding(), standard_registry()));
  CHECK(run(state.plan(), state).text().find("the graph has loops (x[") != std::string::npos);
}

TEST_CASE(
    "loops: a fixed point on a graph with loops is called approximate, and off by what counting all states shows") {
  // Three switches in a ring, each likely in the state of the one before, the first one likely on.
  constexpr double kSame = 0.9, kOn = 0.7;
  Graph g;
  std::vector<VariableId> v;
  for (const char* const name : {"a", "b", "c"}) v.push_back(g.variable(name, 1, "categorical(2)"));
  g.factor("categorical_prior", {v[0]}, {{"probability", {1 - kOn, kOn}}});
  for (std::size_t i = 0; i < 3; ++i)
    g.factor("table", {v[i], v[(i + 1) % 3]}, {{"probability", {kSame, 1 - kSame, 1 - kSame, kSame}}});
  double all = 0, on = 0;
  for (unsigned state = 0; state < 8; ++state) {
    const auto bit = [&](unsigned i) { return state >> i % 3 & 1u; };
    double p = bit(0) == 1 ? kOn : 1 - kOn;
    for (unsigned i = 0; i < 3; ++i) p *= bit(i) == bit(i + 1) ? kSame : 1 - kSame;
    all += p, on += bit(1) == 1 ? p : 0;
  }
  for (const auto& rule : {flooding, sequential, residual}) {
    const auto [plan, state, report] = oracle::solved(compile(g, rule({}), standard_registry()));
    CHECK(report.stop == Report::Stop::converged);
    CHECK(report.line().find(", approximate: the graph has loops;") != std::string::npos);
    for (const char* const name : {"a", "b", "c"}) CHECK(report.caveat().find(name) != std::string::npos);
    CHECK(std::abs(state.belief(v[1]).mean(0, 1) - on / all) > 0.01);
  }
}

TEST_CASE(
    "loops: of linear Gaussian graphs the report says that "
    "means are exact and variances are not, and nothing of trees") {
  const GivenGraph ring = oracle::ring(11, 7, 1.0), tree = oracle::random_tree(5, 40);
  State state(compile(ring.graph, flooding(), standard_registry()));
  ring.observe_in(state);
  const Report report = run(state.plan(), state);
  CHECK(report.line().starts_with("converged after"));
  CHECK(report.line().find(" sweeps, means exact, variances approximate: the graph has loops; take joint()") !=
        std::string::npos);
  CHECK(report.text().find("the graph has loops (") != std::string::npos);
  const auto truth = oracle::dense_posterior(ring.graph, ring.observed);
  CHECK(std::abs(state.belief(VariableId{0}).variance() / truth.variance[0] - 1) > 1e-4);
  State on_tree(compile(tree.graph, flooding(), standard_registry()));
  tree.observe_in(on_tree);
  CHECK(run(on_tree.plan(), on_tree).caveat().empty());
}
