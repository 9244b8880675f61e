// Observations that are missing in a run: the variable is then unknown, with the same plan.
#include "tests/oracles/solved.h"

namespace {

constexpr double kMissingError = 1e-9;

// x -> y -> z with y in the middle, observed or not, and z observed.
struct Relay {
  Graph graph;
  VariableId x = graph.variable("x", 2), y, z = graph.observed("z", 2);

  explicit Relay(bool observed) : y(observed ? graph.observed("y", 2) : graph.variable("y", 2)) {
    graph.factor("gaussian_prior", {x}, {{"mean", 1.0}, {"variance", 4.0}});
    graph.factor("gaussian_noise", {x, y}, {{"variance", 0.5}});
    graph.factor("gaussian_noise", {y, z}, {{"variance", 0.25}});
  }
};

}  // namespace

TEST_CASE("missing: a variable without a value is one that is not observed, by every schedule") {
  const Relay unknown(false), known(true);
  for (const Scheduler& rule : {forward_backward(), flooding(), sequential(), residual()}) {
    CAPTURE(rule.name);
    const auto [latent_plan, latent, report] =
        oracle::solved(compile(unknown.graph, rule, standard_registry()), {{unknown.z, {3.0, -1.0}}});
    const Plan plan = compile(known.graph, rule, standard_registry(), {.may_be_missing = {known.y}});
    State state(plan);
    state.observe(known.z, {3.0, -1.0});
    state.observe(known.y, std::nullopt);
    CHECK(run(plan, state).converged());
    CHECK(oracle::distance(state.belief(known.x), latent.belief(unknown.x)) < kMissingError);
    CHECK(oracle::distance(state.belief(known.y), latent.belief(unknown.y)) < kMissingError);
    // One of two values missing, with the same plan and the same state; then both given.
    state.observe(known.y, {std::nullopt, 2.0});
    CHECK(run(plan, state).converged());
    CHECK(oracle::distance(state.belief(known.x)[0], latent.belief(unknown.x)[0]) < kMissingError);
    CHECK(state.belief(known.y)[1].is_point());
    const double precision = 1 / 4.0 + 1 / 0.5;
    CHECK(state.belief(known.x).mean(1) == doctest::Approx((1 / 4.0 + 2 / 0.5) / precision));
    state.observe(known.y, {2.0, 2.0});
    CHECK(run(plan, state).converged());
    CHECK(state.belief(known.x).mean(0) == doctest::Approx((1 / 4.0 + 2 / 0.5) / precision));
  }
}

TEST_CASE("missing: a plan that relies on the value names the option to compile with") {
  const Relay relay(true);
  const Plan plan = compile(relay.graph, forward_backward(), standard_registry());
  State state(plan);
  state.observe(relay.y, {2.0, 2.0});
  CHECK_THROWS_WITH_AS(state.observe_missing(relay.y, 1),
                       "variable 'y', element 1: it joins 2 factors and cannot be missing in this plan; compile with "
                       "{.may_be_missing = {y}}",
                       Error);
  state.observe(relay.z, {std::nullopt, 1.0});  // one factor: nothing to pass on
  CHECK(run(plan, state).stop == Report::Stop::exact);
  CHECK_THROWS_AS(state.observe(relay.x, std::nullopt), Error);
  CHECK_THROWS_WITH_AS(state.observe_missing(relay.x),
                       "variable 'x' is not observed; declare it with graph.observed(...)", Error);
  CHECK_THROWS_WITH_AS(state.observe_missing(relay.z, 2), "variable 'z' has 2 elements, there is no element 2", Error);
  CHECK_THROWS_AS(state.observe(relay.z, {1.0, std::nullopt, 2.0}), Error);
}

TEST_CASE("missing: an unknown value contradicts nothing") {
  Graph g;
  const auto a = g.observed("a"), b = g.observed("b"), c = g.observed("c");
  g.factor("product", {a, b, c});
  const Plan plan = compile(g, forward_backward(), standard_registry());
  State state(plan);
  state.observe(a, 2.0), state.observe(b, 3.0), state.observe(c, std::nullopt);
  CHECK(run(plan, state).converged());
  state.observe(c, 7.0);
  CHECK_THROWS_AS(run(plan, state), Contradiction);
}

TEST_CASE("missing: an outcome that is missing takes nothing from the evidence of any likelihood") {
  const auto found = [](const char* kind, ParameterList parameters, std::vector<std::optional<double>> outcomes) {
    Graph g;
    const auto x = g.variable("x"), y = g.observed("y", outcomes.size());
    g.factor("gaussian_prior", {x}, {{"mean", 0.3}, {"variance", 2.0}});
    g.factor(kind, {all_to_one(x), y}, std::move(parameters),
             {.method = std::string(kind) == "gaussian_noise" ? "exact" : "ep"});
    const auto [plan, state, report] =
        oracle::solved(compile(g, flooding({.tolerance = 1e-12}), standard_registry()), {{y, outcomes}});
    CHECK(report.converged());
    return log_evidence(plan, state);
  };
  const std::vector<std::pair<const char*, ParameterList>> likelihoods = {
      {"probit", {}},
      {"logistic", {}},
      {"poisson", {}},
      {"gaussian_noise", {{"variance", 0.7}}},
      {"student_t_noise", {{"scale", 0.8}, {"degrees", 4.0}}}};
  for (const auto& likelihood : likelihoods) {
    CAPTURE(likelihood.first);
    const auto of = [&](const std::vector<std::optional<double>>& outcomes) {
      return found(likelihood.first, likelihood.second, outcomes);
    };
    const double alone = of({1.0});
    CHECK(of({1.0, std::nullopt, std::nullopt}) == oracle::relative(alone, 1e-10));
    CHECK(std::abs(of({std::nullopt})) < 1e-12);
  }
}

TEST_CASE("missing: a category and a yes or no that are missing take nothing from the evidence") {
  const auto found = [](const char* prior, const char* family, const char* draw, const char* outcome,
                        ParameterList parameters, const std::string& method,
                        std::vector<std::optional<double>> values) {
    Graph g;
    const auto p = g.variable("p", 1, family), y = g.observed("y", values.size(), outcome);
    g.factor(prior, {p}, std::move(parameters));
    g.factor(draw, {all_to_one(p), y}, {}, {.method = method});
    const auto [plan, state, report] = oracle::solved(compile(g, flooding(), standard_registry()), {{y, values}});
    return log_evidence(plan, state);
  };
  for (const std::string method : {"exact", "ep", "vmp"}) {
    CAPTURE(method);
    CHECK(found("beta_prior", "beta", "bernoulli_draw", "bernoulli", {{"a", 2.0}, {"b", 3.0}}, method,
                {1.0, std::nullopt}) == doctest::Approx(std::log(0.4)));
    CHECK(found("dirichlet_prior", "dirichlet(3)", "categorical_draw", "categorical(3)",
                {{"concentration", {1.0, 2.0, 5.0}}}, method, {std::nullopt, 1.0}) == doctest::Approx(std::log(0.25)));
  }
}

TEST_CASE("missing: two coins, whether both show heads is not known") {
  Graph g;
  const auto a = g.variable("a", 1, "categorical(2)"), b = g.variable("b", 1, "categorical(2)"),
             both = g.observed("both", 1, "categorical(2)");
  for (const VariableId coin : {a, b}) g.factor("categorical_prior", {coin}, {{"probability", {0.5, 0.5}}});
  g.factor("table", {a, b, both}, {{"probability", {1, 0, 1, 0, 1, 0, 0, 1}}});
  for (const Scheduler& rule : {forward_backward(), flooding()}) {
    State state(compile(g, rule, standard_registry()));
    state.observe(both, std::nullopt);
    (void)run(state.plan(), state);
    CHECK(state.belief(both).mean(0, 1) == oracle::relative(0.25, 1e-12));
  }
}

TEST_CASE("missing: an input without a value makes a product of unknowns, which is not exact") {
  Graph g;
  const auto w = g.variable("w"), x = g.observed("x"), z = g.variable("z"), y = g.observed("y");
  g.factor("gaussian_prior", {w}, {{"mean", 1.0}, {"variance", 1.0}});
  g.factor("product", {w, x, z});
  g.factor("gaussian_noise", {z, y}, {{"variance", 0.1}});
  State state(compile(g, forward_backward(), standard_registry(), {.fuse = false}));
  state.observe(x, 2.0), state.observe(y, 3.0);
  CHECK(run(state.plan(), state).stop == Report::Stop::exact);
  const double precision = 1 + 4 / 0.1;
  CHECK(state.belief(w).mean() == doctest::Approx((1 + 2 * 3 / 0.1) / precision));
  CHECK(state.belief(w).sd() == doctest::Approx(1 / std::sqrt(precision)));
  state.observe(x, std::nullopt);
  CHECK(run(state.plan(), state).stop == Report::Stop::converged);
  CHECK(state.belief(x)[0].is_proper());  // y / w, roughly
}
