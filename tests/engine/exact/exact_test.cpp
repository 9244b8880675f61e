// Clique trees against sums over all combinations of values.
#include <fmt/format.h>

#include "tests/engine/exact/discrete_model.h"
#include "tests/oracles/solved.h"

namespace {

using test::DiscreteModel;
using test::random_model;

constexpr double kExactRounding = 2e-12;  // for logs of some thousands

void check_same(const std::vector<double>& found, const std::vector<double>& expected) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) CHECK(std::abs(found[i] - expected[i]) < kExactRounding);
}

// Checks all queries of a solved model.
void check(const DiscreteModel& m) {
  static const Registry registry = standard_registry();
  const Plan plan = compile(m.graph, exact(), registry);
  State state(plan);
  m.observe(state);
  const DiscreteModel::Counted counted = m.counted();
  if (counted.log_total == -kInfinity) {
    CHECK_THROWS_AS((void)run(plan, state), Contradiction);
    return;
  }
  const Report report = run(plan, state);
  CHECK(report.stop == Report::Stop::exact);
  CHECK(std::abs(log_evidence(plan, state) - counted.log_total) < kExactRounding * (1 + std::abs(counted.log_total)));
  CHECK(evidence(plan, state).is_exact);
  const ExactPosterior posterior(state);
  for (std::size_t v = 0; v < m.variables.size(); ++v) {
    check_same(state.belief(m.variables[v]).means(), counted.marginal({v}));
    for (std::size_t u = 0; u < m.variables.size(); ++u)
      check_same(posterior.marginal({m.variables[v], m.variables[u]}), counted.marginal({v, u}));
  }
  if (m.variables.size() > 2)
    check_same(posterior.marginal({m.variables[0], m.variables[1], m.variables[2]}), counted.marginal({0, 1, 2}));
  for (const DiscreteModel::Table& t : m.tables) check_same(posterior.family(t.id), counted.marginal(t.of));
  double most = -kInfinity;
  m.enumerate([&](const auto&, double log) { most = std::max(most, log); });
  const MostProbable best = posterior.most_probable();
  CHECK(std::abs(best.log_probability - most) < kExactRounding * (1 + std::abs(most)));
  double found = -kInfinity;
  m.enumerate([&](const std::vector<std::size_t>& at, double log) {
    bool is_best = true;
    for (std::size_t v = 0; v < at.size(); ++v) is_best &= best.values(0, m.variables[v]) == at[v];
    if (is_best) found = log;
  });
  CHECK(std::abs(found - most) < kExactRounding * (1 + std::abs(most)));
}

}  // namespace

TEST_CASE("exact: random networks with loops, as enumeration has them") {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    check(random_model(seed));
  }
}

TEST_CASE("exact: random networks with weights of all sizes, as enumeration has them") {
  for (std::uint64_t seed = 1; seed <= 100; ++seed)
    for (const double reach : {100.0, 280.0}) {
      CAPTURE(seed);
      check(random_model(seed, reach));
    }
}

TEST_CASE("exact: more children than a product of doubles holds") {
  constexpr int kChildren = 1500;
  Graph g;
  const VariableId cause = g.variable("cause", 1, "categorical(2)"),
                   children = g.variable("children", kChildren, "categorical(4)");
  g.factor("potential", {all_to_one(cause), children}, {{"weight", {0.9, 0.9, 0.9, 0.9, 0.8, 0.99, 0.9, 0.9}}});
  g.factor("potential", {cause}, {{"weight", {1e-300, 2e-300}}});
  const auto [plan, state, report] = oracle::solved(compile(g, exact(), standard_registry()));
  const double log_first = std::log(1e-300) + kChildren * std::log(3.6),
               log_second = std::log(2e-300) + kChildren * std::log(3.59);
  const double log_odds = log_second - log_first;
  CHECK(std::abs(log_evidence(plan, state) - log_first - std::log1p(std::exp(log_odds))) < 1e-9);
  CHECK(std::abs(state.belief(cause).mean(0, 1) - 1 / (1 + std::exp(-log_odds))) < 1e-10);
}

TEST_CASE("exact: draws have the frequencies of the posterior") {
  const DiscreteModel m = random_model(11);
  const Plan plan = compile(m.graph, exact(), standard_registry());
  State state(plan);
  m.observe(state);
  (void)run(plan, state);
  constexpr std::size_t kDraws = 20000;
  const Assignments draws = ExactPosterior(state).sample(kDraws, 7);
  REQUIRE(draws.size() == kDraws);
  for (std::size_t v = 0; v + 1 < m.variables.size(); ++v) {
    std::vector<double> share(m.sizes[v] * m.sizes[v + 1]);
    for (std::size_t d = 0; d < kDraws; ++d)
      share[draws(d, m.variables[v]) * m.sizes[v + 1] + draws(d, m.variables[v + 1])] += 1.0 / kDraws;
    const std::vector<double> expected = m.counted().marginal({v, v + 1});
    for (std::size_t i = 0; i < share.size(); ++i)  // five standard deviations
      CHECK(std::abs(share[i] - expected[i]) <= 5 * std::sqrt(expected[i] * (1 - expected[i]) / kDraws));
  }
}

TEST_CASE("exact: plates, Bernoulli variables and observed parameters") {
  // An Ising ring of five spins, each of them a Bernoulli's or a mixture's cause.
  Graph g;
  const VariableId s = g.variable("s", 5, "categorical(2)"), m = g.observed("m", 2), y = g.observed("y", 5);
  g.factor("potential", {s, gather(s, {1, 2, 3, 4, 0})}, {{"weight", {3, 1, 1, 3}}});
  for (std::uint32_t i = 0; i < 5; ++i)
    g.factor("mixture", {gather(s, {i}), m, gather(y, {i})}, {{"variance", {1.0, 2.0}}});
  const Plan plan = compile(g, exact(), standard_registry());
  State state(plan);
  const std::vector<double> means{-1, 1}, values{0.3, -2, 1.5, 0, 2.5}, variances{1, 2};
  state.observe(m, means);
  state.observe(y, values);
  (void)run(plan, state);
  double total = 0;
  std::vector<double> up(5);
  for (unsigned at = 0; at < 32; ++at) {
    double weight = 1;
    for (unsigned i = 0; i < 5; ++i) {
      const unsigned own = at >> i & 1, next = at >> (i + 1) % 5 & 1;
      weight *= own == next ? 3 : 1;
      weight *= std::exp(-0.5 * std::pow(values[i] - means[own], 2) / variances[own]) /
                std::sqrt(2 * std::acos(-1.0) * variances[own]);
    }
    total += weight;
    for (unsigned i = 0; i < 5; ++i) up[i] += (at >> i & 1) * weight;
  }
  for (std::size_t i = 0; i < 5; ++i) CHECK(std::abs(state.belief(s).mean(i, 1) - up[i] / total) < kExactRounding);
  CHECK(std::abs(log_evidence(plan, state) - std::log(total)) < kExactRounding * 10);

  Graph coins;
  const VariableId p = coins.observed("p", 1, "beta"), x = coins.variable("x", 1, "bernoulli");
  coins.factor("bernoulli_prior", {x}, {{"probability", 0.3}});
  coins.factor("bernoulli_draw", {p, x});
  auto [of_coins, tossed, report] = oracle::solved(compile(coins, exact(), standard_registry()), {{p, 0.8}});
  CHECK(std::abs(tossed.belief(x).mean() - 0.24 / (0.24 + 0.14)) < kExactRounding);
  CHECK(std::abs(log_evidence(of_coins, tossed) - std::log(0.38)) < kExactRounding);
  tossed.set_parameter(coins.find_factor("bernoulli_prior0"), "probability", 1.0);
  (void)run(of_coins, tossed);
  CHECK(tossed.belief(x).mean() == 1);
}

TEST_CASE("exact: a missing value is inferred, one that was not given is asked for") {
  DiscreteModel m = random_model(3);
  std::size_t v = 0;
  while (!m.seen[v] || m.sizes[v] == 1) ++v;
  const Plan plan = compile(m.graph, exact(), standard_registry());
  State state(plan);
  CHECK(oracle::error_of([&] { (void)run(plan, state); }).find("has no value; give it one") != std::string::npos);
  CHECK(oracle::error_of([&] { (void)ExactPosterior(state); }).find("call run(plan, state) first") !=
        std::string::npos);
  m.observe(state);
  state.observe_missing(m.variables[v]);
  (void)run(plan, state);
  const std::size_t value = *m.seen[v];
  m.seen[v].reset();
  for (std::size_t u = 0; u < m.variables.size(); ++u)
    check_same(state.belief(m.variables[u]).means(), m.counted().marginal({u}));
  m.seen[v] = value;
  m.observe(state);
  CHECK(oracle::error_of([&] { (void)ExactPosterior(state); }).find("call run(plan, state) again") !=
        std::string::npos);
  (void)run(plan, state);
  for (std::size_t u = 0; u < m.variables.size(); ++u)
    check_same(state.belief(m.variables[u]).means(), m.counted().marginal({u}));
}

TEST_CASE("exact: a refused run leaves nothing behind that a later one trusts") {
  DiscreteModel m;
  m.add_variable(2);
  for (const std::size_t v : {1, 2}) m.add_variable(2, v - 1);
  m.add_table({0}, {0.3, 0.7}, true);
  m.add_table({0, 1}, {0.9, 0.1, 0.2, 0.8}, true);
  m.add_table({0, 2}, {0.6, 0.4, 0.5, 0.5}, true);
  const Plan plan = compile(m.graph, exact(), standard_registry());
  State state(plan);
  CHECK(oracle::error_of([&] { (void)run(plan, state); }).find("has no value") != std::string::npos);
  for (const std::size_t v : {1, 2}) {
    state.observe_missing(m.variables[v]);
    m.seen[v].reset();
  }
  (void)run(plan, state);
  for (std::size_t u = 0; u < 3; ++u) check_same(state.belief(m.variables[u]).means(), m.counted().marginal({u}));
}

TEST_CASE("exact: too wide a clique is refused with its width and its variables, and sweeps are offered") {
  Graph g;
  std::vector<Connection> all;
  const std::size_t n = 40;
  std::vector<VariableId> x;
  for (std::size_t i = 0; i < n; ++i) x.push_back(g.variable(fmt::format("x{}", i), 1, "categorical(2)"));
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = i + 1; j < n; ++j) g.factor("potential", {x[i], x[j]}, {{"weight", {2, 1, 1, 2}}});
  const std::string text = oracle::error_of([&] { (void)compile(g, exact(), standard_registry()); });
  CHECK(text.find("exact: the widest clique joins 40 variables ('x0', 'x1', ") == 0);
  CHECK(text.find("and 32 more) in 1.1e+12 entries") != std::string::npos);
  CHECK(text.find("sweep with a schedule, such as flooding(), which is approximate, bound the evidence by "
                  "tree_reweighted(), or raise exact({.memory") != std::string::npos);
  Graph gaussian;
  gaussian.factor("gaussian_prior", {gaussian.variable("z")}, {{"mean", 0.0}, {"variance", 1.0}});
  CHECK(oracle::error_of([&] { (void)compile(gaussian, exact(), standard_registry()); }).find("no discrete variable") !=
        std::string::npos);
}

TEST_CASE("exact: observations that contradict are named, and no others") {
  // b = a or c; d = not b; e is free.
  Graph g;
  const auto discrete = [&](const char* name, bool is_observed) {
    const VariableId v = is_observed ? g.observed(name, 1, "categorical(2)") : g.variable(name, 1, "categorical(2)");
    g.name_categories(v, {"no", "yes"});
    return v;
  };
  const VariableId a = discrete("a", true), b = discrete("b", false), c = discrete("c", true), d = discrete("d", true),
                   e = discrete("e", true);
  g.factor("categorical_prior", {a}, {{"probability", {0.5, 0.5}}});
  g.factor("categorical_prior", {c}, {{"probability", {0.5, 0.5}}});
  g.factor("table", {a, c, b}, {{"probability", {1, 0, 0, 1, 0, 1, 0, 1}}});
  g.factor("table", {b, d}, {{"probability", {0, 1, 1, 0}}});
  g.factor("table", {b, e}, {{"probability", {0.5, 0.5, 0.1, 0.9}}});
  const Plan plan = compile(g, exact(), standard_registry());
  State state(plan);
  state.observe(a, g.category(a, "yes")), state.observe(c, 0), state.observe(d, 1), state.observe(e, 1);
  CHECK(oracle::error_of([&] { (void)run(plan, state); }) ==
        "the observations have probability zero: 'a' = yes and 'd' "
        "= yes cannot be together; change one of these observations");
  state.observe(a, 0);
  CHECK_NOTHROW((void)run(plan, state));
  CHECK(oracle::error_of([&] {
          (void)g.category(a, "Yes");
        }).find("variable 'a' has no category 'Yes'; did you mean 'yes'?") == 0);
}

TEST_CASE("exact: a directed cycle is named") {
  Graph g;
  const VariableId a = g.variable("a", 1, "categorical(2)"), b = g.variable("b", 1, "categorical(2)");
  g.factor("table", {a, b}, {{"probability", {0.5, 0.5, 0.1, 0.9}}});
  g.factor("table", {b, a}, {{"probability", {0.5, 0.5, 0.1, 0.9}}});
  const std::string text = oracle::error_of([&] { (void)compile(g, exact(), standard_registry()); });
  CHECK(text.find("a") != std::string::npos);
  CHECK(text.find("cycle") != std::string::npos);
}

TEST_CASE("exact: the error of sweeps is measured") {
  DiscreteModel m = random_model(5);
  const ExactComparison found = compare_with_exact(m.graph, flooding({.damping = 0.2}), standard_registry(),
                                                   [&](State& state) { m.observe(state); });
  CHECK(std::abs(found.log_evidence - m.counted().log_total) < kExactRounding * 100);
  CHECK(!found.rows.empty());
  CHECK(found.text().find("log evidence: ") != std::string::npos);
}
