// Queries of a joint run, and refused ones.
#include "engine/inspect/inspect.h"
#include "tests/engine/joint/joint_models.h"
#include "tests/oracles/solved.h"

namespace {

using namespace dma::joint_test;

// z = a + b, y = z + noise: only their priors separate a and b.
struct Pair {
  Graph g;
  VariableId a = g.variable("a"), b = g.variable("b"), z = g.variable("z"), y = g.observed("y");
  explicit Pair(double prior_of_a = 1, double prior_of_b = 2) {
    if (prior_of_a > 0) g.factor("gaussian_prior", {a}, {{"mean", 1.0}, {"variance", prior_of_a}});
    if (prior_of_b > 0) g.factor("gaussian_prior", {b}, {{"mean", -1.0}, {"variance", prior_of_b}});
    g.factor("add", {a, b, z});
    g.factor("gaussian_noise", {z, y}, {{"variance", 0.1}}, {.name = "noise"});
  }
};

}  // namespace

TEST_CASE("joint: draws have the posterior's moments, and deterministic variables their functions' values") {
  const Pair pair;
  const auto [plan, state, report] = oracle::solved(compile(pair.g, joint(), standard_registry()), {{pair.y, 0.7}});
  const JointPosterior posterior(state);
  constexpr std::size_t kDraws = 20'000;
  const JointSamples samples = posterior.sample(kDraws, 5);
  CHECK(samples.size() == kDraws);
  double mean = 0, product = 0;
  for (std::size_t d = 0; d < kDraws; ++d) {
    CHECK(samples(d, pair.z) == samples(d, pair.a) + samples(d, pair.b));
    mean += samples(d, pair.a) / kDraws;
    product += samples(d, pair.a) * samples(d, pair.b) / kDraws;
  }
  const double sd = state.belief(pair.a).sd(), covariance = posterior.covariance(pair.a, pair.b)(0, 0);
  CHECK(std::abs(mean - state.belief(pair.a).mean()) < 4 * sd / std::sqrt(kDraws));
  CHECK(product - mean * state.belief(pair.b).mean() == oracle::relative(covariance, 0.05));
  CHECK(covariance == oracle::relative(-2.0 / 3.1, 1e-10));
  CHECK(posterior.sample(3, 5)(2, pair.b) == samples(2, pair.b));
  CHECK_THROWS_WITH_AS(samples(kDraws, pair.a),
                       "samples: there is no element 0 of variable 'a' in draw 20000; 1 elements and 20000 draws exist",
                       Error);
  CHECK_THROWS_WITH_AS(samples(0, VariableId{99}), doctest::Contains("variable 99 is not of the graph of this plan"),
                       Error);
  CHECK(posterior.covariance(pair.a, 0, pair.z, 0) == doctest::Approx(posterior.covariance(pair.a, pair.z)(0, 0)));
  CHECK_THROWS_WITH_AS((void)posterior.covariance(pair.a, 1, pair.z, 0),
                       "variable 'a' has 1 elements, there is no element 1", Error);
}

TEST_CASE("joint: covariances and draws keep to the limit on memory; single elements need none of it") {
  Graph g;
  const Axis axis(g, 300, "");
  const auto [plan, state, report] = oracle::solved(compile(g, joint({.memory = 200'000}), standard_registry()),
                                                    {{axis.y, std::vector<double>(300, 0.5)}});
  const JointPosterior posterior(state);
  CHECK_THROWS_WITH_AS(
      (void)posterior.covariance(axis.p, axis.v),
      "joint: covariances of 'p' and 'v' are 300 x 300 numbers, 0.00072 GB, more than the limit of 0.0002 GB; ask for "
      "single elements or raise joint({.memory = ...})",
      Error);
  CHECK_THROWS_WITH_AS(
      (void)posterior.sample(100, 1),
      "joint: draws of all elements are 100 x 1199 numbers, 0.000959 GB, more than the limit of 0.0002 GB; draw fewer "
      "at a time or raise joint({.memory = ...})",
      Error);
  const oracle::Solved roomy =
      oracle::solved(compile(g, joint(), standard_registry()), {{axis.y, std::vector<double>(300, 0.5)}});
  CHECK(posterior.covariance(axis.p, 7, axis.v, 290) == JointPosterior(roomy.state).covariance(axis.p, axis.v)(7, 290));
}

TEST_CASE("joint: a singular system names the variables that nothing determines, and keeps the others") {
  Pair pair(0, 0);
  const VariableId c = pair.g.variable("c");
  pair.g.factor("gaussian_prior", {c}, {{"mean", 1.0}, {"variance", 0.5}});
  const auto [plan, state, report] = oracle::solved(compile(pair.g, joint(), standard_registry()), {{pair.y, 1.0}});
  CHECK(report.stop == Report::Stop::singular);
  CHECK(!report.converged());
  CHECK(report.joint->undetermined == "'a', 'b'");
  CHECK(report.line().starts_with("singular after 2 solves: nothing determines 'a', 'b'; objective"));
  CHECK(state.belief(pair.a)[0].is_uniform());
  CHECK(state.belief(c).variance() == doctest::Approx(0.5));
  const JointPosterior posterior(state);
  CHECK_THROWS_WITH_AS((void)posterior.covariance(pair.a, c), "joint: nothing determines 'a'; it has no covariance",
                       Error);
  CHECK_THROWS_WITH_AS((void)posterior.sample(1, 1),
                       "joint: nothing determines some variables; there is no posterior to draw from", Error);
  CHECK_THROWS_WITH_AS((void)posterior.log_evidence(), "joint: nothing determines some variables; there is no evidence",
                       Error);
}

TEST_CASE("joint: a sum is known although nothing determines its terms") {
  Pair pair(0, 0);
  const VariableId difference = pair.g.variable("difference");
  pair.g.factor("sum", {Connection("terms", pair.a), Connection("terms", pair.b), Connection("total", difference)},
                {{"coefficients", std::vector<double>{1, -1}}});
  const auto [plan, state, report] = oracle::solved(compile(pair.g, joint(), standard_registry()), {{pair.y, 1.0}});
  CHECK(report.stop == Report::Stop::singular);
  CHECK(state.belief(pair.z).mean() == doctest::Approx(1));
  CHECK(state.belief(pair.z).variance() == doctest::Approx(0.1));
  CHECK(state.belief(difference)[0].is_uniform());
  const JointPosterior posterior(state);
  CHECK(posterior.covariance(pair.z, pair.z)(0, 0) == doctest::Approx(0.1));
  CHECK_THROWS_WITH_AS((void)posterior.covariance(pair.z, difference),
                       "joint: nothing determines 'difference'; it has no covariance", Error);
}

TEST_CASE("joint: a quantity known a million times less than its neighbour keeps its digits") {
  // a and b within 1e-6 of each other, and both within 1e6 of their priors: 24 decades of information.
  Graph g;
  const VariableId a = g.variable("a"), b = g.variable("b"), difference = g.variable("difference");
  g.factor("gaussian_prior", {a}, {{"mean", 3.0}, {"variance", 1e12}});
  g.factor("gaussian_prior", {b}, {{"mean", 5.0}, {"variance", 1e12}});
  g.factor("gaussian_noise", {a, b}, {{"variance", 1e-12}});
  g.factor("sum", {Connection("terms", a), Connection("terms", b), Connection("total", difference)},
           {{"coefficients", std::vector<double>{1, -1}}});
  const auto [plan, state, report] = oracle::solved(compile(g, joint(), standard_registry()));
  CHECK(report.stop == Report::Stop::exact);
  CHECK(state.belief(a).mean() == oracle::relative(4, 1e-9));
  CHECK(state.belief(a).variance() == oracle::relative(5e11, 1e-9));
  CHECK(state.belief(difference).variance() == oracle::relative(1e-12, 1e-9));
}

TEST_CASE("joint: values that a Gaussian system cannot hold are refused by name, with the repair") {
  const auto compiled = [](const Graph& g, JointOptions options = {}) {
    return compile(g, joint(std::move(options)), standard_registry());
  };
  {
    Graph g;
    const VariableId a = g.variable("a"), b = g.variable("b"), y = g.observed("y");
    g.factor("gaussian_prior", {a}, {{"mean", 0.0}, {"variance", 1.0}});
    g.factor("gaussian_prior", {b}, {{"mean", 0.0}, {"variance", 1.0}});
    g.factor("add", {a, b, y}, {}, {.name = "total"});
    CHECK_THROWS_WITH_AS(
        compiled(g),
        "joint: 'y' is observed and also the output of factor 'total', a constraint of infinite precision; observe it "
        "through gaussian_noise instead",
        Error);
  }
  {
    Pair pair;
    pair.g.factor("add", {pair.b, pair.a, pair.z}, {}, {.name = "again"});
    CHECK_THROWS_WITH_AS(
        compiled(pair.g),
        "joint: 'z' is the output of two deterministic factors, 'again' is one of them: a constraint of infinite "
        "precision; connect one of them through gaussian_noise",
        Error);
  }
  {
    Registry registry = standard_registry();
    registry.add(kind("mystery").input("x"));
    Pair pair;
    pair.g.factor("mystery", {pair.a}, {}, {.name = "unknown"});
    CHECK_THROWS_WITH_AS(
        compile(pair.g, joint(), registry),
        "joint: kind 'mystery' of factor 'unknown' has no linear view; give it a function(...), a gaussian_row(...) or "
        "messages (it is then an EP site)",
        Error);
  }
  const Pair pair;
  CHECK_THROWS_WITH_AS(compiled(pair.g, {.memory = 90}),
                       "joint: 2 unknowns need 9.6e-08 GB, more than the limit of 9e-08 GB; raise joint({.memory = "
                       "...}) or solve by sweeps",
                       Error);
  CHECK_THROWS_WITH_AS(compiled(pair.g, {.tolerance = 0}), "joint: tolerance is 0; it must be above 0", Error);
  CHECK_THROWS_WITH_AS(compiled(pair.g, {.limit = 0}), "joint: the limit is 0 solves; at least 1 is expected", Error);
  const Plan plan = compiled(pair.g);
  State state(plan);
  CHECK_THROWS_WITH_AS(JointPosterior{state}, "this state has not been run; call run(plan, state) first", Error);
  CHECK_THROWS_WITH_AS(run(plan, state), "observed variable 'y' has no value; give it one with state.observe(...)",
                       Error);
  state.observe(pair.y, 1.0);
  const double start[] = {1.0};
  CHECK_THROWS_WITH_AS(
      set_start(state, pair.z, start),
      "variable 'z' is the output of a deterministic factor; only a variable that nothing computes has a start", Error);
  state.set_parameter(pair.g.find_factor("noise"), "variance", 0.0);
  CHECK_THROWS_WITH_AS(
      run(plan, state),
      "joint: factor 'noise' has variance 0, a constraint of infinite precision; give it a small positive variance, or "
      "declare its variable observed",
      Error);
  state.set_parameter(pair.g.find_factor("noise"), "variance", 1e-310);  // its inverse overflows
  CHECK_THROWS_WITH_AS(run(plan, state),
                       "joint: factor 'noise' has variance 1e-310, a constraint of infinite "
                       "precision; give it a small positive variance, or declare its variable observed",
                       Error);
  CHECK_THROWS_WITH_AS((void)explain(plan, state, pair.a),
                       "explain: this plan is solved as a whole, without messages; "
                       "compile it with a schedule, such as flooding(), to explain 'a'",
                       Error);
  const Plan other = compile(pair.g, flooding(), standard_registry());
  const State by_sweeps(other);
  CHECK_THROWS_WITH_AS(JointPosterior{by_sweeps},
                       "this plan is not solved by joint; compile it with compile(graph, joint(), registry)", Error);
}

TEST_CASE("joint: one call compares sweeps with it") {
  Graph g;
  const Axis axis(g, 20, "");
  std::vector<double> values;
  for (std::size_t t = 0; t < 20; ++t) values.push_back(series(t));
  const JointComparison c = compare_with_joint(g, flooding({.damping = 0.3}), standard_registry(),
                                               [&](State& s) { s.observe(axis.y, values); });
  REQUIRE(c.rows.size() == 3);
  CHECK(c.joint.stop == Report::Stop::exact);
  CHECK(c.rows[0].variable == "p");
  CHECK(c.rows[0].mean_difference < 1e-3);                     // loopy messages find the right mean
  CHECK(std::abs(std::log(c.rows[1].variance_ratio)) > 0.05);  // and a wrong variance
  CHECK(c.text().find("variance ratio") != std::string::npos);
}
