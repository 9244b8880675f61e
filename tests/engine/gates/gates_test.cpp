// Gates: parts of a graph that count only in some cases, against closed forms and sums over all combinations.
#include "engine/gates/gates.h"

#include "models/graphs/graph_file.h"
#include "tests/engine/exact/discrete_model.h"
#include "tests/oracles/plain_matrix.h"
#include "tests/oracles/solved.h"

namespace {

using oracle::PlainMatrix;

double log_beta(double a, double b) { return std::lgamma(a) + std::lgamma(b) - std::lgamma(a + b); }

constexpr double kGateRounding = 1e-12;

// Was the treatment effective? If so each group has its own probability, otherwise they share one.
struct Trial {
  Graph g;
  VariableId effective, one, control_p, treated_p, control, treated;

  explicit Trial(bool has_priors_in_gates) {
    effective = g.variable("effective", 1, "bernoulli");
    one = g.variable("one", 1, "beta"), control_p = g.variable("control_p", 1, "beta"),
    treated_p = g.variable("treated_p", 1, "beta");
    control = g.observed("control", 5, "bernoulli"), treated = g.observed("treated", 5, "bernoulli");
    g.factor("bernoulli_prior", {effective}, {{"probability", 0.5}});
    for (const VariableId p : {one, control_p, treated_p}) {
      FactorOptions options;
      if (has_priors_in_gates) options.when = {{effective, p == one ? 0u : 1u}};
      g.factor("beta_prior", {p}, {{"a", 1.0}, {"b", 2.0}}, options);
    }
    g.factor("bernoulli_draw", {all_to_one(one), control}, {}, {.when = {{effective, 0}}});
    g.factor("bernoulli_draw", {all_to_one(one), treated}, {}, {.when = {{effective, 0}}});
    g.factor("bernoulli_draw", {all_to_one(control_p), control}, {}, {.when = {{effective, 1}}});
    g.factor("bernoulli_draw", {all_to_one(treated_p), treated}, {}, {.when = {{effective, 1}}});
  }
  void observe(State& state) const {
    state.observe(control, {0.0, 0.0, 1.0, 0.0, 0.0});
    state.observe(treated, {1.0, 0.0, 1.0, 1.0, 1.0});
  }
};

}  // namespace

TEST_CASE("gates: a clinical trial in one graph equals its two evidences") {
  const double log_one = log_beta(1 + 5, 2 + 5) - log_beta(1, 2),
               log_two = log_beta(1 + 1, 2 + 4) + log_beta(1 + 4, 2 + 1) - 2 * log_beta(1, 2),
               effective = 1 / (1 + std::exp(log_one - log_two));
  for (const bool has_priors_in_gates : {false, true}) {
    CAPTURE(has_priors_in_gates);
    const Trial trial(has_priors_in_gates);
    const Plan plan = compile(trial.g, gates(forward_backward()), standard_registry());
    State state(plan);
    trial.observe(state);
    const Report report = run(plan, state);
    CHECK(report.line() == fmt::format("exact: 2 cases, the likeliest effective = 1 with {:.4g}", effective));
    CHECK(std::abs(state.belief(trial.effective).mean() - effective) < kGateRounding);
    CHECK(std::abs(log_evidence(plan, state) - std::log(0.5 * std::exp(log_one) + 0.5 * std::exp(log_two))) < 1e-11);
    CHECK(evidence(plan, state).is_exact);
    // beta(2, 6) if it is effective; otherwise the prior, or a uniform belief.
    const Belief p = state.belief(trial.control_p);
    const double share = has_priors_in_gates ? 1 : effective, mean = share * 0.25 + (1 - share) / 3,
                 square = share * 2 * 3 / (8.0 * 9) + (1 - share) * 1 * 2 / (3.0 * 4);
    CHECK(std::abs(p.mean() - mean) < kGateRounding);
    CHECK(std::abs(p.variance() - (square - mean * mean)) < kGateRounding);
    CHECK(p.family().text() == "beta");
  }
}

TEST_CASE("gates: random discrete graphs with factors in gates, as enumeration has them") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    test::DiscreteModel m = test::random_model(seed);
    test::Random random(seed + 1000);
    // Choosers are two of its variables, known or unknown, and the factors they choose are potentials.
    const std::size_t n = m.variables.size();
    struct Gated {
      std::size_t chooser, value;
    };
    std::vector<Gated> gated;
    const std::size_t first = m.tables.size();
    for (int i = 0; i < 4; ++i) {
      const std::size_t chooser = random.below(2), value = random.below(m.sizes[chooser]), a = random.below(n),
                        b = (a + 1 + random.below(n - 1)) % n;
      std::vector<double> numbers(m.sizes[a] * m.sizes[b]);
      for (double& x : numbers) x = 0.1 + 10 * random.unit();
      const FactorId id = m.graph.factor("potential", {m.variables[a], m.variables[b]}, {{"weight", numbers}},
                                         {.when = {{m.variables[chooser], static_cast<std::uint32_t>(value)}}});
      m.tables.push_back({{a, b}, std::move(numbers), id});
      gated.push_back({chooser, value});
    }
    const auto weight = [&](const std::vector<std::size_t>& at, double log) {
      for (std::size_t i = 0; i < gated.size(); ++i) {  // enumerate() counts every table
        const auto& t = m.tables[first + i];
        if (at[gated[i].chooser] != gated[i].value)
          log -= std::log(t.numbers[at[t.of[0]] * m.sizes[t.of[1]] + at[t.of[1]]]);
      }
      return std::exp(log);
    };
    double total = 0;
    std::vector<std::vector<double>> counted;
    for (const std::size_t values : m.sizes) counted.emplace_back(values);
    m.enumerate([&](const std::vector<std::size_t>& at, double log) {
      const double w = weight(at, log);
      total += w;
      for (std::size_t v = 0; v < n; ++v) counted[v][at[v]] += w;
    });
    const Plan plan = compile(m.graph, gates(exact()), standard_registry());
    State state(plan);
    m.observe(state);
    if (total == 0) {
      CHECK_THROWS_AS((void)run(plan, state), Contradiction);
      continue;
    }
    CHECK(run(plan, state).stop == Report::Stop::exact);
    CHECK(std::abs(log_evidence(plan, state) - std::log(total)) < 1e-11);
    for (std::size_t v = 0; v < n; ++v)
      for (std::size_t k = 0; k < m.sizes[v]; ++k)
        CHECK(std::abs(state.belief(m.variables[v]).mean(0, k) - counted[v][k] / total) < kGateRounding);
  }
}

TEST_CASE("gates: Gaussian parts, by sweeps and by cliques; parameters and missing values reach the cases") {
  // One level for both readings, or one each; a Bernoulli variable is observed through a table of errors.
  Graph g;
  const auto differ = g.variable("differ", 1, "categorical(2)"), told = g.observed("told", 1, "categorical(2)");
  const auto level = g.variable("level", 2), y = g.observed("y", 2);
  g.name_categories(differ, {"no", "yes"});
  g.factor("categorical_prior", {differ}, {{"probability", {0.7, 0.3}}});
  g.factor("table", {differ, told}, {{"probability", {0.9, 0.1, 0.2, 0.8}}});
  g.factor("gaussian_prior", {level}, {{"mean", 0.0}, {"variance", 4.0}});
  g.factor("gaussian_noise", {gather(level, {0, 0}), y}, {{"variance", 1.0}}, {.name = "same", .when = {{differ, 0}}});
  const FactorId apart = g.factor("gaussian_noise", {level, y}, {{"variance", 1.0}}, {.when = {{differ, 1}}});
  const auto check = [&](const Plan& plan, bool is_missing, bool predicts) {
    State state(plan);
    state.observe(told, 1);
    if (is_missing)
      state.observe(y, {1.0, std::nullopt});
    else
      state.observe(y, {1.0, -2.0});
    state.set_parameter(apart, "variance", 0.5);
    const Report report = run(plan, state);
    const auto log_n = [](double x, double variance) {
      return -0.5 * (std::log(2 * std::acos(-1.0) * variance) + x * x / variance);
    };
    // Readings with covariance 4 between them; the second given the first is N(0.8, 1.8).
    const double no = std::log(0.7 * 0.1) + log_n(1, 5) + (is_missing ? 0 : log_n(-2.8, 1.8)),
                 yes = std::log(0.3 * 0.8) + log_n(1, 4.5) + (is_missing ? 0 : log_n(-2, 4.5)),
                 share = 1 / (1 + std::exp(no - yes));
    CHECK(report.stop == Report::Stop::exact);
    CHECK(std::abs(state.belief(differ).mean(0, 1) - share) < kGateRounding);
    CHECK(std::abs(log_evidence(plan, state) - no - std::log1p(std::exp(yes - no))) < 1e-11);
    const double m0 = is_missing ? 0.8 : 4 * (1 - 2) / 9.0, v0 = is_missing ? 0.8 : 4 / 9.0, m1 = 4 / 4.5, v1 = 2 / 4.5,
                 mean = (1 - share) * m0 + share * m1;
    CHECK(std::abs(state.belief(level).mean(0) - mean) < kGateRounding);
    CHECK(std::abs(state.belief(level).variance(0) -
                   ((1 - share) * (v0 + m0 * m0) + share * (v1 + m1 * m1) - mean * mean)) < kGateRounding);
    if (is_missing && predicts) CHECK(std::abs(state.belief(y).mean(1) - (1 - share) * 0.8) < kGateRounding);
    CHECK(state.belief(y).mean(0) == 1);
    CHECK(report.line().find("differ = ") != std::string::npos);
  };
  for (const bool is_missing : {false, true}) {
    check(compile(g, gates(forward_backward()), standard_registry()), is_missing, true);
    check(compile(g, gates(exact()), standard_registry()), is_missing, false);
  }
  CHECK(describe(g).find("same: gaussian_noise(gather level, y) when differ = 0") != std::string::npos);
  const std::string text =
      graph_text({.description = "", .graph = g, .observations = {}, .schedule = "", .method = ""});
  const GraphFile file = parse_graph(text);
  CHECK(graph_text(file) == text);
  CHECK(file.graph.has_gates());
}

TEST_CASE("gates: missing, predicted and shared values weigh no case beyond their own probability") {
  // A class that exists only if s is 1, a number that exists only if s is 0.
  Graph g;
  const auto s = g.observed("s", 1, "categorical(2)"), y = g.observed("y", 1, "categorical(3)"), z = g.observed("z");
  const auto x = g.variable("x");
  g.factor("categorical_prior", {s}, {{"probability", {0.6, 0.4}}});
  g.factor("categorical_prior", {y}, {{"probability", {0.2, 0.3, 0.5}}}, {.when = {{s, 1}}});
  g.factor("gaussian_prior", {x}, {{"mean", 0.0}, {"variance", 3.0}});
  g.factor("gaussian_noise", {x, z}, {{"variance", 1.0}}, {.when = {{s, 0}}});
  const double log_z = -0.5 * std::log(8 * std::acos(-1.0)) - 1 / 8.0;
  const auto check = [&](const auto& rule, std::vector<VariableId> unobserved) {
    const bool predicts = !unobserved.empty();
    const Plan plan = compile(g, gates(rule), standard_registry(), {.unobserved = std::move(unobserved)});
    State state(plan);
    for (const std::optional<double> seen : {std::optional<double>(), std::optional(1.0)}) {
      if (!predicts) state.observe(s, std::nullopt), state.observe(z, 1.0);
      state.observe(y, std::span(&seen, 1));
      run(plan, state);
      const double no = std::log(0.6) + (predicts ? 0 : log_z), yes = std::log(0.4 * (seen ? 0.3 : 1.0));
      CHECK(std::abs(state.belief(s).mean(0, 1) - 1 / (1 + std::exp(no - yes))) < kGateRounding);
      CHECK(std::abs(log_evidence(plan, state) - no - std::log1p(std::exp(yes - no))) < 1e-11);
      if (!seen) CHECK(std::abs(state.belief(y).mean(0, 1) - 0.3) < kGateRounding);
    }
  };
  check(forward_backward(), {});
  check(forward_backward(), {s, z});
  check(exact(), {});
  check(exact(), {s, z});

  // A shared chooser with odds of 1 : 9 in its cavity.
  Graph shared;
  const auto c = shared.shared("c", 1, "categorical(2)");
  shared.factor("categorical_prior", {c}, {{"probability", {0.5, 0.5}}});
  shared.factor("categorical_prior", {c}, {{"probability", {0.2, 0.8}}}, {.when = {{c, 1}}});
  const Plan plan = compile(shared, gates(forward_backward()), standard_registry());
  State state(plan);
  state.cavity(c).tau[0] = std::log(0.9), state.cavity(c).tau[1] = std::log(0.1);
  run(plan, state);
  CHECK(std::abs(log_evidence(plan, state) - std::log(0.5 * 0.9 + 0.5 * 0.8 * 0.1)) < kGateRounding);
  CHECK(std::abs(state.belief(c).mean(0, 1) - 0.04 / 0.49) < kGateRounding);

  // A shared number with a factor in only one case keeps its cavity in the other.
  Graph absent;
  const auto d = absent.variable("d", 1, "categorical(2)");
  const auto w = absent.shared("w"), r = absent.observed("r");
  absent.factor("categorical_prior", {d}, {{"probability", {0.5, 0.5}}});
  absent.factor("gaussian_noise", {w, r}, {{"variance", 1.0}}, {.when = {{d, 1}}});
  for (const Plan& one : {compile(absent, gates(forward_backward()), standard_registry()),
                          compile(absent, gates(exact()), standard_registry())}) {
    State of(one);
    of.cavity(w).tau[0] = 0.5, of.cavity(w).rho[0] = 0.5;  // N(1, 2)
    of.observe(r, 4.0);
    run(one, of);
    const double density = std::exp(-9 / 6.0) / std::sqrt(6 * std::acos(-1.0)), share = density / (1 + density);
    CHECK(std::abs(of.belief(d).mean(0, 1) - share) < kGateRounding);
    CHECK(std::abs(of.belief(w).mean() - ((1 - share) * 1 + share * 3)) < kGateRounding);
  }
}

TEST_CASE("gates: factors that a schedule would fuse, with the beliefs between them") {
  Graph g;
  const auto s = g.variable("s", 1, "bernoulli"), w = g.variable("w", 2), p = g.variable("p", 2), z = g.variable("z");
  const auto x = g.observed("x", 2), y = g.observed("y");
  g.factor("bernoulli_prior", {s}, {{"probability", 0.5}});
  g.factor("gaussian_prior", {w}, {{"mean", 0.0}, {"variance", 1.0}});
  g.factor("product", {w, x, p});
  g.factor("sum", {p, z});
  g.factor("gaussian_noise", {z, y}, {{"variance", 1.0}}, {.when = {{s, 1}}});
  auto [plan, state, report] =
      oracle::solved(compile(g, gates(forward_backward()), standard_registry()), {{x, {1.0, 2.0}}, {y, 3.0}});
  const double share = 1 / (1 + std::sqrt(12 * std::acos(-1.0)) * std::exp(9 / 12.0));  // N(3; 0, 6) beside 1
  CHECK(std::abs(state.belief(s).mean() - share) < kGateRounding);
  CHECK(std::abs(state.belief(z).mean() - share * 2.5) < kGateRounding);
  CHECK_THROWS_WITH_AS(state.freeze(w), doctest::Contains("'w' cannot be frozen: gates solves for all"), Error);
}

TEST_CASE("gates: Gaussian cases with loops by joint(), as dense matrices have them") {
  // A line with or without a slope; the chooser is observed through a table of errors, or not at all.
  Graph g;
  const auto sloped = g.variable("sloped", 1, "categorical(2)"), told = g.observed("told", 1, "categorical(2)");
  const auto level = g.variable("level"), slope = g.variable("slope"), line = g.variable("line", 4);
  const auto y = g.observed("y", 4);
  const std::vector<double> at{-1, 0, 1, 2}, seen{0.2, 0.9, 2.1, 2.4};
  g.factor("categorical_prior", {sloped}, {{"probability", {0.6, 0.4}}});
  g.factor("table", {sloped, told}, {{"probability", {0.9, 0.1, 0.2, 0.8}}});
  g.factor("gaussian_prior", {level}, {{"mean", 0.0}, {"variance", 4.0}});
  g.factor("gaussian_prior", {slope}, {{"mean", 0.0}, {"variance", 2.0}}, {.when = {{sloped, 1}}});
  std::vector<double> row;
  for (const double x : at) row.insert(row.end(), {1, x});
  g.factor("linear", {{"x", gather(level, {0, 0, 0, 0})}, {"x", gather(slope, {0, 0, 0, 0})}, {"y", line}},
           {{"A", row}}, {.when = {{sloped, 1}}});
  g.factor("affine", {gather(level, {0, 0, 0, 0}), line}, {{"a", 1.0}}, {.when = {{sloped, 0}}});
  g.factor("gaussian_noise", {line, y}, {{"variance", 0.5}});
  const PlainMatrix x = PlainMatrix::column(at), numbers = PlainMatrix::column(seen), ones(4, 1, 1);
  const Plan plan = compile(g, gates(joint()), standard_registry());
  for (const bool is_missing : {false, true}) {
    State state(plan);
    state.observe(y, seen);
    if (is_missing)
      state.observe(told, std::nullopt);
    else
      state.observe(told, 1);
    CHECK(run(plan, state).stop == Report::Stop::exact);
    double log[2], mean[2], variance[2];
    for (int s = 0; s < 2; ++s) {
      const PlainMatrix c = 0.5 * PlainMatrix::identity(4) + 4 * ones * ones.transpose() + 2.0 * s * x * x.transpose();
      const double known = is_missing ? 1 : s == 1 ? 0.8 : 0.1;
      log[s] = std::log((s == 1 ? 0.4 : 0.6) * known) -
               0.5 * (dot(numbers, c.solve(numbers)) + c.log_determinant() + 4 * std::log(2 * std::acos(-1.0)));
      mean[s] = 4 * dot(ones, c.solve(numbers)), variance[s] = 4 - 16 * dot(ones, c.solve(ones));
    }
    const double share = 1 / (1 + std::exp(log[0] - log[1])), both = (1 - share) * mean[0] + share * mean[1];
    CHECK(std::abs(state.belief(sloped).mean(0, 1) - share) < 1e-11);
    CHECK(std::abs(log_evidence(plan, state) - log[0] - std::log1p(std::exp(log[1] - log[0]))) < 1e-10);
    CHECK(std::abs(state.belief(level).mean() - both) < 1e-11);
    CHECK(std::abs(state.belief(level).variance() - ((1 - share) * (variance[0] + mean[0] * mean[0]) +
                                                     share * (variance[1] + mean[1] * mean[1]) - both * both)) < 1e-11);
  }
}

TEST_CASE("gates: impossible requests are refused in one line, with the repair") {
  const Trial trial(false);
  CHECK(oracle::error_of([&] { (void)compile(trial.g, exact(), standard_registry()); }) ==
        "factor 'bernoulli_draw4' counts only where 'effective' is "
        "0; compile the graph with gates(...), such as gates(exact())");
  const auto with = [&](VariableId chooser, std::uint32_t value) {
    Trial other(false);
    other.g.factor("bernoulli_draw", {all_to_one(other.one), other.control}, {}, {.when = {{chooser, value}}});
    return oracle::error_of([&] { (void)compile(other.g, gates(exact()), standard_registry()); });
  };
  CHECK(with({0}, 2) == "factor 'bernoulli_draw8' counts where 'effective' is 2; its values are 0 to 1");
  CHECK(with({1}, 0) ==
        "factor 'bernoulli_draw8': 'one' chooses, but it is beta of "
        "1 element; one element of a discrete variable is expected");
  Graph many;
  for (int i = 0; i < 11; ++i) {
    const VariableId s = many.variable("", 1, "bernoulli");
    many.factor("bernoulli_prior", {s}, {{"probability", 0.5}}, {.when = {{s, 0}}});
  }
  CHECK(oracle::error_of([&] { (void)compile(many, gates(exact()), standard_registry()); }) ==
        "gates: 11 variables, 'v10' the last, have more than 1024 cases together; let fewer choose");
  Trial twice(false);
  CHECK(oracle::error_of([&] {
          twice.g.factor("beta_prior", {twice.one}, {}, {.when = {{twice.effective, 0}, {twice.effective, 1}}});
        }) == "factor 8 (beta_prior): 'effective' is twice in when; give it one value");
  for (const char* const value : {"0.5", "-1", "1e300", "\"0.5\"", "\"-1\"", "\"1e300\"", "\"nan\""}) {
    const std::string text = fmt::format(
        R"~({{"variables": {{"c": {{"family": "categorical(2)"}}}}, "factors": [{{"kind": "categorical_prior",
            "connects": ["c"], "when": {{"c": {}}}}}]}})~",
        value);
    CHECK(oracle::error_of([&] { (void)parse_graph(text); }).find("a value of it, such as 1, is expected") !=
          std::string::npos);
  }
  const Plan plan = compile(trial.g, gates(forward_backward()), standard_registry());
  State state(plan);
  CHECK(oracle::error_of([&] { (void)run(plan, state); }) ==
        "observed variable 'control' has no value; give it one with state.observe(...)");
}
