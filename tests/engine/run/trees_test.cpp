// Laws of sweeps on random trees, with and without hubs: by every schedule beliefs are the marginals of the joint
// Gaussian, whatever changed since the run before.
#include "tests/oracles/allocations.h"
#include "tests/oracles/dense_gaussian.h"
#include "tests/oracles/random_graphs.h"
#include "tests/oracles/random_messages.h"
#include "tests/oracles/solved.h"

namespace {

using oracle::DensePosterior;
using oracle::GivenGraph;

// The dense solve of a system of 500 unknowns of order 1 loses at most 4 digits.
constexpr double kTreeError = 1e-9;
constexpr std::uint64_t kTreeSeed = 7;

// The largest error of any belief: means in units of max(1, |mean|), variances relative to the prior scale 1 or to
// themselves.
double largest_error(const State& state, const DensePosterior& truth) {
  double worst = 0;
  for (std::uint32_t v = 0; v < state.plan()->variables.size(); ++v) {
    const Belief belief = state.belief(VariableId{v});
    worst = std::max(worst, std::abs(belief.mean() - truth.mean[v]) / std::max(1.0, std::abs(truth.mean[v])));
    worst =
        std::max(worst, std::abs(belief.variance() - truth.variance[v]) / std::max(1.0, std::abs(truth.variance[v])));
  }
  return worst;
}

// The same graph, each of whose factors goes through change(graph, factor, ends, parameters) first.
template <class Change>
GivenGraph changed(const GivenGraph& given, const Change& change) {
  GivenGraph out{{}, given.observed};
  for (const auto& v : given.graph.variables()) (void)(v.observed ? out.graph.observed("") : out.graph.variable(""));
  for (const Graph::Factor& factor : given.graph.factors()) {
    std::vector<Connection> ends;
    for (const Connection& c : factor.connections) ends.emplace_back(VariableId{c.variable.value});
    ParameterList parameters(factor.parameters.begin(), factor.parameters.end());
    change(out.graph, factor, ends, parameters);
    out.graph.factor(factor.kind, std::move(ends), std::move(parameters));
  }
  return out;
}

// The graph cut at a frozen variable: each of its factors has its own variable there, whose prior is the frozen one's
// message to that factor.
GivenGraph cut_at(const GivenGraph& given, VariableId frozen, const State& state) {
  const auto message_of = [&](const Graph::Factor& factor) {
    const Kind& kind = *state.plan()->groups[state.plan()->membership({factor.number}).group].kind;
    std::vector<Gaussian> all;
    for (const PortSpec& port : kind.ports())
      for (const Gaussian& message : state.messages({factor.number}, port.name)) all.push_back(message);
    for (std::size_t i = 0; i < all.size(); ++i)
      if (factor.connections[i].variable == frozen) return all[i];
    return Gaussian();
  };
  return changed(given, [&](Graph& graph, const Graph::Factor& factor, std::vector<Connection>& ends, ParameterList&) {
    const auto end = std::ranges::find(ends, frozen, &Connection::variable);
    if (end == ends.end()) return;
    Gaussian arrival;
    for (const Graph::Factor& other : given.graph.factors())
      if (other.number != factor.number) arrival = Gaussian(multiply(arrival, message_of(other)));
    end->variable = graph.variable("");
    graph.factor("gaussian_prior", {end->variable},
                 {{"mean", arrival.is_uniform() ? 0 : arrival.mean()}, {"variance", arrival.variance()}});
  });
}

std::vector<Scheduler> rules_to_the_end() {
  const Iteration to_the_end{.tolerance = 1e-13, .limit = 2000};
  return {forward_backward(), flooding(to_the_end), sequential(to_the_end), residual(to_the_end)};
}

}  // namespace

TEST_CASE("trees: every schedule reaches the dense solution on random trees of up to 300 variables, damped or not") {
  const Registry registry = standard_registry();
  std::size_t largest = 0, compared = 0;
  for (std::uint64_t i = 0; i < 200; ++i) {
    const double fraction = static_cast<double>(i * 7919 % 200) / 199;
    const GivenGraph given = oracle::random_tree(kTreeSeed + i, 2 + static_cast<std::size_t>(298 * fraction * fraction),
                                                 i % 3 == 1 ? 0.5 : 0);
    const DensePosterior truth = oracle::dense_posterior(given.graph, given.observed);
    const auto check = [&](const Scheduler& rule, Report::Stop stop) {
      const oracle::Solved found = oracle::solved(compile(given.graph, rule, registry), given.values());
      INFO(rule.name, ", seed ", kTreeSeed + i, ", ", given.graph.variables().size(), " variables");
      CHECK(found.report.faults == 0);
      CHECK_MESSAGE(found.report.stop == stop, found.report.line());
      CHECK(largest_error(found.state, truth) <= kTreeError);
      return found.report.stop == Report::Stop::exact ? evidence(found.plan, found.state) : Evidence();
    };
    const Evidence by_parts = check(forward_backward(), Report::Stop::exact);
    CHECK(by_parts.is_exact);
    try {
      const oracle::Solved whole = oracle::solved(compile(given.graph, joint(), registry), given.values());
      CHECK(by_parts.log_value == oracle::relative(log_evidence(whole.plan, whole.state), kTreeError, 1));
      ++compared;
    } catch (const Error&) {  // two functions with one output
    }
    double sum = 0;
    for (const auto& part : by_parts.factors) sum += part.value;
    for (const auto& part : by_parts.variables) sum += part.value;
    CHECK(sum == oracle::relative(by_parts.log_value, kTreeError, 1));
    largest = std::max(largest, given.graph.variables().size());
    // An undamped message is final after as many sweeps as the tree is deep; a damped one approaches it as 0.3^n.
    if (i % 16 == 0)
      for (const double damping : {0.0, 0.3})
        for (const auto& rule : {flooding, sequential, residual})
          (void)check(rule({.tolerance = 1e-13, .limit = 2000, .damping = damping}), Report::Stop::converged);
  }
  CHECK(largest >= 300);
  CHECK(compared > 30);
}

TEST_CASE("trees: with other parameters and readings that are missing, a state finds the dense solution again") {
  const Registry registry = standard_registry();
  for (std::uint64_t seed = 1; seed <= 24; ++seed) {
    oracle::RandomMessages random(seed);
    // Equal variances, which factors of one group share until one of them changes.
    const GivenGraph given = changed(oracle::random_tree(seed, 60, seed % 2 == 0 ? 0.7 : 0),
                                     [](Graph&, const Graph::Factor& factor, const auto&, ParameterList& own) {
                                       for (auto& [name, value] : own)
                                         if (factor.kind == "gaussian_noise") value = ParameterValue(0.5);
                                     });
    for (const Scheduler& rule : rules_to_the_end()) {
      INFO(rule.name, ", seed ", seed);
      auto [plan, state, report] = oracle::solved(compile(given.graph, rule, registry), given.values());
      for (int turn = 0; turn < 3; ++turn) {
        GivenGraph now = changed(given, [&](Graph&, const Graph::Factor& factor, const auto& ends, ParameterList& own) {
          for (auto& [name, value] : own)
            if (name == "variance") {
              if (random.chance(0.2)) value = ParameterValue(random.log_uniform({0.1, 10}));
              state.set_parameter({factor.number}, name, value.numbers[0]);
            }
          if (factor.kind != "gaussian_noise" || !given.graph[ends[1].variable].observed) return;
          const VariableId y = ends[1].variable;
          if (random.chance(0.3))
            state.observe_missing(y);
          else
            state.observe(y, given.observed.at(y.value));
        });
        std::erase_if(now.observed, [&](const auto& one) { return state.is_missing({one.first}); });
        CHECK(run(plan, state).converged());
        CHECK(largest_error(state, oracle::dense_posterior(now.graph, now.observed)) <= kTreeError);
        const std::uint64_t before = oracle::allocations();
        (void)run(plan, state, {.diagnose = false});
        CHECK(oracle::allocations() == before);
      }
    }
  }
}

TEST_CASE("trees: with a frozen variable the others are as if the tree were cut there, until it is thawed") {
  const Registry registry = standard_registry();
  for (std::uint64_t seed = 1; seed <= 24; ++seed) {
    const GivenGraph given = oracle::random_tree(seed, 40, seed % 3 == 0 ? 0.7 : 0);
    oracle::RandomMessages random(seed);
    VariableId frozen{0};
    while (given.graph[frozen].observed || random.chance(0.8))
      frozen.value = (frozen.value + 1) % static_cast<std::uint32_t>(given.graph.variables().size());
    for (const Scheduler& rule : rules_to_the_end()) {
      INFO(rule.name, ", seed ", seed, ", variable ", frozen.value);
      auto [plan, state, report] = oracle::solved(compile(given.graph, rule, registry), given.values());
      state.freeze(frozen);
      const Gaussian held = state.belief(frozen)[0];
      GivenGraph other = given;
      for (auto& [variable, value] : other.observed) value = 1 - value;
      other.observe_in(state);
      const GivenGraph cut = cut_at(other, frozen, state);
      DensePosterior truth = oracle::dense_posterior(cut.graph, cut.observed);
      truth.mean[frozen.value] = held.mean();
      truth.variance[frozen.value] = held.variance();
      for (int again = 0; again < 2; ++again) {
        CHECK(run(plan, state).stop ==
              (plan->schedule.order == Schedule::Order::once ? Report::Stop::approximate : Report::Stop::converged));
        CHECK(state.belief(frozen)[0] == held);
        CHECK(largest_error(state, truth) <= kTreeError);
      }
      CHECK_THROWS_WITH_AS(log_evidence(plan, state), doctest::Contains("is frozen"), Error);
      state.thaw(frozen);
      run(plan, state);
      CHECK(largest_error(state, oracle::dense_posterior(other.graph, other.observed)) <= kTreeError);
    }
  }
}
