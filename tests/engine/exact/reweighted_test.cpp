// Bounds on the evidence by tree-reweighted messages, against sums over all combinations of values.
#include "tests/engine/exact/discrete_model.h"
#include "tests/oracles/solved.h"

namespace {

using test::DiscreteModel;
using test::Random;
using test::random_model;

constexpr double kBoundRounding = 1e-10;

struct Bounded {
  EvidenceBounds bounds;
  Report report;
  double worst = 0;  // largest difference of a probability from the exact one
};
template <class Rule>
Bounded solve(const DiscreteModel::Counted& expected, const Rule& rule) {
  const DiscreteModel& m = expected.model;
  static const Registry registry = standard_registry();
  const Plan plan = compile(m.graph, rule, registry);
  State state(plan);
  m.observe(state);
  Bounded out{{}, run(plan, state)};
  if constexpr (std::is_same_v<Rule, TreeReweighted>) out.bounds = evidence_bounds(state);
  for (std::size_t v = 0; v < m.variables.size(); ++v) {
    const std::vector<double> found = state.belief(m.variables[v]).means(), counted = expected.marginal({v});
    for (std::size_t k = 0; k < found.size(); ++k) out.worst = std::max(out.worst, std::abs(found[k] - counted[k]));
  }
  return out;
}

// Spins on a square, each with its own field; couplings of either sign, or all of one.
DiscreteModel ising(std::size_t side, double coupling, double field, bool is_mixed, std::uint64_t seed) {
  Random random(seed);
  DiscreteModel m;
  for (std::size_t i = 0; i < side * side; ++i) {
    m.add_variable(2);
    const double h = field * (2 * random.unit() - 1);
    m.add_table({i}, {std::exp(-h), std::exp(h)}, false);
  }
  const auto join = [&](std::size_t a, std::size_t b) {
    const double j = is_mixed ? coupling * (2 * random.unit() - 1) : coupling;
    m.add_table({a, b}, {std::exp(j), std::exp(-j), std::exp(-j), std::exp(j)}, false);
  };
  for (std::size_t i = 0; i < side * side; ++i) {
    if (i % side + 1 < side) join(i, i + 1);
    if (i + side < side * side) join(i, i + side);
  }
  return m;
}

}  // namespace

TEST_CASE("tree_reweighted: the counted evidence lies between the bounds, wherever the messages have come to") {
  int settled = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed)
    for (const double reach : {0.0, 20.0}) {
      CAPTURE(seed);
      const DiscreteModel m = random_model(seed, reach);
      const DiscreteModel::Counted counted = m.counted();
      const double log_total = counted.log_total, rounding = kBoundRounding * (1 + std::abs(log_total));
      for (const int limit : {1, 3, 1000}) {
        if (log_total == -kInfinity) {
          try {
            CHECK(solve(counted, tree_reweighted({.limit = limit})).bounds.lower == -kInfinity);
          } catch (const Contradiction&) {  // impossibility was proved
          }
          continue;
        }
        const Bounded found = solve(counted, tree_reweighted({.limit = limit}));
        CHECK(found.bounds.lower <= log_total + rounding);
        CHECK(found.bounds.upper >= log_total - rounding);
        CHECK(found.bounds.lower <= found.bounds.upper);
        settled += limit == 1000 && found.report.stop == Report::Stop::converged;
      }
    }
  CHECK(settled > 350);  // ... among possible models
}

TEST_CASE("tree_reweighted: without loops the upper bound and the beliefs are exact") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    DiscreteModel m;
    for (std::size_t v = 0; v < 9; ++v) {
      m.add_variable(2 + random.below(2), v == 7 ? std::optional<std::size_t>(1) : std::nullopt);
      const std::size_t parent = v == 0 ? 0 : random.below(v);
      std::vector<double> numbers(m.sizes[v] * (v == 0 ? 1 : m.sizes[parent]));
      for (double& x : numbers) x = 10 * random.unit();
      m.add_table(v == 0 ? std::vector<std::size_t>{0} : std::vector{parent, v}, numbers, false);
    }
    const DiscreteModel::Counted counted = m.counted();
    const Bounded found = solve(counted, tree_reweighted());
    CHECK(found.report.stop == Report::Stop::converged);
    CHECK(std::abs(found.bounds.upper - counted.log_total) < kBoundRounding);
    CHECK(found.worst < kBoundRounding);
  }
}

TEST_CASE("tree_reweighted: a grid of strong couplings, against belief propagation") {
  int failures = 0;  // failures of belief propagation, which here finds one of two states, or oscillates
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    CAPTURE(seed);
    const DiscreteModel m = ising(4, seed <= 5 ? 1.0 : 2.0, seed <= 5 ? 0.05 : 0.5, seed > 5, seed);
    const DiscreteModel::Counted counted = m.counted();
    const double log_total = counted.log_total;
    const Bounded bounded = solve(counted, tree_reweighted()), swept = solve(counted, flooding({.limit = 1000}));
    CHECK(bounded.report.stop == Report::Stop::converged);
    CHECK(bounded.bounds.lower <= log_total);
    CHECK(log_total <= bounded.bounds.upper);
    CHECK(bounded.report.line().find("; beliefs approximate, log evidence between ") != std::string::npos);
    if (swept.worst < 0.3) continue;
    ++failures;
    CHECK(bounded.worst < 0.6 * swept.worst);
  }
  CHECK(failures == 6);
}
