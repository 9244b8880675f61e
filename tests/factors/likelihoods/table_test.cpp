#include "factors/likelihoods/table.h"

#include <fmt/format.h>

#include <numeric>
#include <random>

#include "engine/support/log_sum_exp.h"
#include "tests/oracles/solved.h"

namespace {

// A hidden Markov model: K states, L symbols, T steps.
struct Hmm {
  std::vector<double> start, step, emit;
  std::size_t states, symbols;
  std::vector<double> seen;

  static Hmm random(std::size_t states, std::size_t symbols, std::size_t length, unsigned seed) {
    std::mt19937 random(seed);
    const auto rows = [&](std::size_t n, std::size_t m) {
      std::vector<double> numbers(n * m);
      for (std::size_t i = 0; i < n; ++i) {
        double sum = 0;
        for (std::size_t j = 0; j < m; ++j)
          sum += numbers[i * m + j] = 0.05 + static_cast<double>(random() % 1000) / 1000;
        for (std::size_t j = 0; j < m; ++j) numbers[i * m + j] /= sum;
      }
      return numbers;
    };
    Hmm h{rows(1, states), rows(states, states), rows(states, symbols), states, symbols, {}};
    for (std::size_t t = 0; t < length; ++t) h.seen.push_back(static_cast<double>(random() % symbols));
    return h;
  }
  double emission(std::size_t k, std::size_t t) const { return emit[k * symbols + static_cast<std::size_t>(seen[t])]; }

  // The textbook's scaled recursions: the state's probabilities at each step, and log p(seen).
  std::pair<std::vector<std::vector<double>>, double> forward_backward() const {
    const std::size_t length = seen.size();
    std::vector<std::vector<double>> a(length, std::vector<double>(states)), b(length, std::vector<double>(states, 1));
    double log_evidence = 0;
    for (std::size_t t = 0; t < length; ++t) {
      double sum = 0;
      for (std::size_t k = 0; k < states; ++k) {
        double before = t == 0 ? start[k] : 0;
        for (std::size_t j = 0; t > 0 && j < states; ++j) before += a[t - 1][j] * step[j * states + k];
        sum += a[t][k] = before * emission(k, t);
      }
      for (double& x : a[t]) x /= sum;
      log_evidence += std::log(sum);
    }
    for (std::size_t t = length - 1; t-- > 0;) {
      double sum = 0;
      for (std::size_t j = 0; j < states; ++j) {
        b[t][j] = 0;
        for (std::size_t k = 0; k < states; ++k) b[t][j] += step[j * states + k] * emission(k, t + 1) * b[t + 1][k];
        sum += b[t][j];
      }
      for (double& x : b[t]) x /= sum;
    }
    for (std::size_t t = 0; t < length; ++t) {
      double sum = 0;
      for (std::size_t k = 0; k < states; ++k) sum += a[t][k] *= b[t][k];
      for (double& x : a[t]) x /= sum;
    }
    return {a, log_evidence};
  }
};

}  // namespace

TEST_CASE("table: a hidden Markov model as one plate is exact in one sweep, for any length, lag and gaps") {
  const auto build = [](const Hmm& h, std::int32_t lag, Graph& g) {
    const std::size_t length = h.seen.size();
    const auto z = g.variable("z", length, fmt::format("categorical({})", h.states));
    const auto x = g.observed("x", length, fmt::format("categorical({})", h.symbols));
    std::vector<std::uint32_t> first(static_cast<std::size_t>(lag));
    std::iota(first.begin(), first.end(), 0u);
    g.factor("categorical_prior", {gather(z, first)}, {{"probability", h.start}});
    g.factor("table", {shift(z, lag), z}, {{"probability", h.step}});
    g.factor("table", {z, x}, {{"probability", h.emit}});
    return std::pair(z, x);
  };
  for (const auto& [states, symbols, length] : {std::array<std::size_t, 3>{4, 3, 60}, {2, 5, 2}, {3, 2, 500}}) {
    const Hmm h = Hmm::random(states, symbols, length, static_cast<unsigned>(length));
    const auto [exact, log_likelihood] = h.forward_backward();
    Graph g;
    const auto [z, x] = build(h, 1, g);
    const auto [plan, state, report] =
        oracle::solved(compile(g, forward_backward(), standard_registry()), {{x, h.seen}});
    CHECK(report.stop == Report::Stop::exact);
    CHECK(report.sweeps == 1);
    double worst = 0;
    for (std::size_t t = 0; t < length; ++t)
      for (std::size_t k = 0; k < states; ++k)
        worst = std::max(worst, std::abs(state.belief(z).mean(t, k) - exact[t][k]));
    CHECK(worst < 1e-12);
    const Evidence found = evidence(plan, state);
    CHECK(found.is_exact);
    CHECK(found.log_value == oracle::relative(log_likelihood, 1e-11));
  }
  // A lag of two gives two chains; missing values of one do not affect the other.
  Hmm h = Hmm::random(3, 2, 41, 9), even = h;
  even.seen.clear();
  for (std::size_t t = 0; t < h.seen.size(); t += 2) even.seen.push_back(h.seen[t]);
  const auto exact = even.forward_backward().first;
  Graph g;
  const auto [z, x] = build(h, 2, g);
  const Plan plan = compile(g, forward_backward(), standard_registry());
  State state(plan);
  state.observe(x, h.seen);
  for (const std::size_t t : {1u, 7u, 39u}) state.observe_missing(x, t);
  CHECK(run(plan, state).stop == Report::Stop::exact);
  for (std::size_t t = 0; t < exact.size(); ++t)
    for (std::size_t k = 0; k < 3; ++k) CHECK(std::abs(state.belief(z).mean(2 * t, k) - exact[t][k]) < 1e-12);
}

TEST_CASE("table: two tables that share a parent and have one of their own each are still a tree") {
  Graph g;
  std::vector<VariableId> v;
  const std::vector<double> p = {0.3, 0.7}, t = {0.9, 0.1, 0.4, 0.6, 0.2, 0.8, 0.75, 0.25};
  for (const char* name : {"a", "b", "c"}) {
    v.push_back(g.variable(name, 1, "categorical(2)"));
    g.factor("categorical_prior", {v.back()}, {{"probability", p}});
  }
  const auto x = g.observed("x", 1, "categorical(2)"), y = g.observed("y", 1, "categorical(2)");
  g.factor("table", {v[0], v[1], x}, {{"probability", t}});
  g.factor("table", {v[0], v[2], y}, {{"probability", t}});
  const auto [plan, state, report] =
      oracle::solved(compile(g, forward_backward(), standard_registry()), {{x, 1}, {y, 0}});
  CHECK(report.stop == Report::Stop::exact);
  double total = 0, on[3] = {};
  for (std::size_t a = 0; a < 2; ++a)
    for (std::size_t b = 0; b < 2; ++b)
      for (std::size_t c = 0; c < 2; ++c) {
        const double w = p[a] * p[b] * p[c] * t[(a * 2 + b) * 2 + 1] * t[(a * 2 + c) * 2];
        total += w, on[0] += a ? w : 0, on[1] += b ? w : 0, on[2] += c ? w : 0;
      }
  for (std::size_t i = 0; i < 3; ++i) CHECK(state.belief(v[i]).mean(0, 1) == oracle::relative(on[i] / total, 1e-13));
  CHECK(log_evidence(plan, state) == oracle::relative(std::log(total), 1e-12));
}

TEST_CASE("table: weights beyond the range of a double are no zeros, and zeros of the table are, by enumeration") {
  // Log messages of two parents of three categories and a child of two; -inf is forbidden.
  std::mt19937 random(11);
  std::uniform_real_distribution<double> far(-3000, 0);
  for (int round = 0; round < 200; ++round) {
    std::vector<double> table, logs;
    for (std::size_t r = 0; r < 9; ++r) {
      const double p = std::array{0.0, 1.0, 0.3, 1e-300}[random() % 4];
      table.push_back(p), table.push_back(1 - p);
    }
    for (std::size_t k = 0; k < 8; ++k) logs.push_back(random() % 6 == 0 ? -kInfinity : far(random));
    std::vector<CategoricalComponent> components;
    for (const double log : logs)
      components.push_back(log == -kInfinity ? CategoricalComponent::forbidden() : CategoricalComponent(log, 0));
    const auto prepared = Table::prepare(table, {{3, 3}, {2}});
    std::vector<double> to[3] = {std::vector<double>(3, -kInfinity), std::vector<double>(3, -kInfinity),
                                 std::vector<double>(2, -kInfinity)};
    double in_all = -kInfinity, of_messages[3] = {-kInfinity, -kInfinity, -kInfinity};
    const auto add = [](double& sum, double log) {
      const double pair[] = {sum, log};
      sum = log_sum_exp(pair);
    };
    for (std::size_t a = 0; a < 3; ++a)
      for (std::size_t b = 0; b < 3; ++b)
        for (std::size_t k = 0; k < 2; ++k) {
          const double p = std::log(table[(a * 3 + b) * 2 + k]);
          add(to[0][a], p + logs[3 + b] + logs[6 + k]), add(to[1][b], p + logs[a] + logs[6 + k]),
              add(to[2][k], p + logs[a] + logs[3 + b]);
          add(in_all, p + logs[a] + logs[3 + b] + logs[6 + k]);
        }
    for (std::size_t k = 0; k < 8; ++k) add(of_messages[k < 3 ? 0 : k < 6 ? 1 : 2], logs[k]);
    std::vector<CategoricalComponent> out(8);
    const std::span<const CategoricalComponent> all(components);
    Table::to_parents(all.first(6), all.last(2), {prepared}, std::span(out).first(6));
    Table::to_child(all.first(6), {prepared}, std::span(out).last(2));
    for (std::size_t target = 0; target < 3; ++target) {
      const double largest = std::ranges::max(to[target]);
      for (std::size_t k = 0; k < to[target].size(); ++k) {
        const CategoricalComponent& component = out[3 * target + k];
        if (largest == -kInfinity)
          CHECK(std::isnan(component.tau));
        else if (to[target][k] == -kInfinity)
          CHECK(component == CategoricalComponent::forbidden());
        else
          CHECK(component.tau == oracle::relative(to[target][k] - largest, 1e-12, 1));
      }
    }
    const std::vector<Natural> arrivals(components.begin(), components.end());
    const double found = Table::log_integral(arrivals, {prepared}),
                 expected = in_all - of_messages[0] - of_messages[1] - of_messages[2];
    if (in_all == -kInfinity)
      CHECK(found == -kInfinity);
    else
      CHECK(found == oracle::relative(expected, 1e-12, 1));
  }
}

TEST_CASE("table: an impossible observation is a counted fault, not a number, and has probability zero") {
  Graph g;
  const auto a = g.variable("a", 1, "categorical(2)"), c = g.observed("c", 1, "categorical(2)");
  g.factor("categorical_prior", {a}, {{"probability", {0.5, 0.5}}});
  g.factor("table", {a, c}, {{"probability", {1, 0, 1, 0}}});
  const auto [plan, state, report] = oracle::solved(compile(g, forward_backward(), standard_registry()), {{c, 1}});
  CHECK(report.faults == 2);
  CHECK(evidence(plan, state).line() == "log evidence -inf, exact");
}

TEST_CASE("table: an uncountable number of combinations is refused, whatever it is modulo 2^64") {
  const auto refused = [](const std::vector<std::size_t>& parents, std::vector<double> numbers) {
    Graph g;
    std::vector<Connection> ends;
    for (const std::size_t categories : parents)
      ends.emplace_back(g.variable("", 1, fmt::format("categorical({})", categories)));
    ends.emplace_back(g.variable("", 1, "categorical(2)"));
    g.factor("table", ends, {{"probability", std::move(numbers)}}, {.name = "f"});
    return oracle::error_of([&] { (void)compile(g, flooding(), standard_registry()); });
  };
  // The product is 2^64 + 230.
  CHECK(refused({2, 3, 19, 41, 97, 7103, 69341, 82609}, std::vector<double>(460, 0.5)) ==
        "factor 'f' (table): parameter 'probability': the numbers for parents of 2, 3, "
        "19, 41, 97, 7103, 69341, 82609 categories and a child of 2 number 223301868727494, "
        "more than the 4294967294 a plan can count; make it smaller, or split the model");
  CHECK(refused(std::vector<std::size_t>(64, 2), {}).find("more than the 4294967294 a plan can count") !=
        std::string::npos);
}

TEST_CASE("table: numbers that do not fit are refused by the name of the factor") {
  const auto refused = [](std::vector<double> numbers) {
    Graph g;
    const auto a = g.variable("a", 1, "categorical(2)"), c = g.variable("c", 1, "categorical(3)");
    g.factor("table", {a, c}, {{"probability", numbers}}, {.name = "f"});
    return oracle::error_of([&] { (void)compile(g, flooding(), standard_registry()); });
  };
  CHECK(refused({0.5, 0.5, 0, 1, 0, 0}).empty());
  CHECK(refused({0.5, 0.5}) ==
        "factor 'f' (table): parameter 'probability': 2 numbers are given; 6 are expected: 2 combinations of the "
        "parents, and for each the 3 categories of the child");
  CHECK(refused({0.5, 0.5, 0, 1, 1, 0}) ==
        "factor 'f' (table): parameter 'probability': combination 1 of the parents: the probabilities have the sum 2; "
        "it must be 1");
  CHECK(refused({0.5, 0.5, 0, 2, -1, 0}).find("but must be in [0, inf]") != std::string::npos);
  Graph g;
  const auto a = g.variable("a"), c = g.variable("c", 1, "categorical(3)");
  g.factor("table", {a, c}, {{"probability", 1.0}});
  CHECK_THROWS_WITH_AS((void)compile(g, flooding(), standard_registry()),
                       "factor 'table0' (table): port 'parents' wants a categorical variable but 'a' is gaussian",
                       Error);
  Graph h;
  const auto z = h.observed("z", 2, "categorical(3)");
  h.factor("categorical_prior", {z}, {{"probability", {0.2, 0.3, 0.5}}});
  const Plan plan = compile(h, flooding(), standard_registry());
  State state(plan);
  CHECK_THROWS_WITH_AS(state.observe(z, {0.0, 3.0}),
                       doctest::Contains("variable 'z', element 1: the observed value is 3; a category"), Error);
  state.observe(z, {0.0, 2.0});
  CHECK(state.belief(z).text() == "z ~ = 0, = 2");
  (void)run(plan, state);
  CHECK(log_evidence(plan, state) == doctest::Approx(std::log(0.2 * 0.5)));
}
