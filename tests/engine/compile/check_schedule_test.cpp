// A status is a promise, also for a schedule that somebody wrote: what cannot be visited or is left out is an error,
// and one sweep is called exact only if its beliefs are the posterior.
#include "engine/compile/schedule.h"
#include "tests/oracles/dense_gaussian.h"
#include "tests/oracles/random_graphs.h"
#include "tests/oracles/random_messages.h"
#include "tests/oracles/scalar_graph.h"
#include "tests/oracles/solved.h"

namespace {

using Order = Schedule::Order;
using Stop = Report::Stop;

Scheduler of_visits(std::vector<Visit> visits, Order order = Order::once, std::string_view approximate = {}) {
  return {"mine", [=](const Flow&) {
            return Schedule{.name = "mine", .visits = visits, .order = order, .approximate = approximate};
          }};
}

// a, b with priors, a + b = t, t + noise = y; factors 0 to 3.
struct ScheduledSum {
  Graph graph;
  VariableId a = graph.variable("a"), b = graph.variable("b"), t = graph.variable("t"), y = graph.observed("y");
  ScheduledSum() {
    for (const VariableId v : {a, b}) graph.factor("gaussian_prior", {v}, {{"mean", 1.0}, {"variance", 1.0}});
    graph.factor("sum", {a, b, t}, {}, {.name = "plus"});
    graph.factor("gaussian_noise", {t, y}, {{"variance", 1.0}}, {.name = "seen"});
  }
  Plan plan(const Scheduler& rule) const { return compile(graph, rule, standard_registry()); }
  Report solve(const Scheduler& rule) const {
    State state(plan(rule));
    state.observe(y, 5.0);
    const Report report = run(state.plan(), state);
    if (report.stop == Stop::exact) CHECK(state.belief(a).mean() == doctest::Approx(2));  // 1 + (5 - 2) / 3
    return report;
  }
  void refuses(const Scheduler& rule, const char* why) const {
    CHECK_THROWS_WITH_AS(plan(rule), doctest::Contains(why), Error);
  }
};
const Visit kPriors[] = {{0, {}, {0}}, {1, {}, {0}}};
const Visit kSeen{3, {1}, {0}}, kDown{2, {1}, {0}}, kDownToBoth{2, {0, 1}, {0, 1}};

}  // namespace

TEST_CASE("check_schedule: what the graph does not have cannot be visited") {
  const ScheduledSum model;
  model.refuses(of_visits({{17, {0}, {1}}}),
                "schedule 'mine': visit 0 is to factor 17, but the graph has 4 factors, numbered from 0");
  model.refuses(of_visits({kSeen, {2, {9}, {0}}}),
                "visit 1 to factor 'plus' (sum) names port 9, but its ports are 0 terms, 1 total");
  model.refuses(of_visits({{2, {0}, {12}}}), "names port 12");
  model.refuses(of_visits({{2, {0}, {1}, 1}}), "visit 0 is to slot 1 of factor 'plus' (sum), which has 1 slots");
  const auto chained = [](Chained chain) {
    return Scheduler{"mine", [=](const Flow&) {
                       return Schedule{.name = "mine", .visits = {kSeen, kDown}, .chains = {chain}};
                     }};
  };
  model.refuses(chained({1, 1, {0, 0}}), "chain 0 takes 2 visits from visit 1, but there are 2 visits");
  model.refuses(chained({0, 2, {0}}), "chain 0 has step 2; 1 or -1 is expected");
}

TEST_CASE("check_schedule: a message that nobody sends, or that reads what nobody refreshed, is an error") {
  const ScheduledSum model;
  for (const Order order : {Order::once, Order::repeated, Order::residual}) {
    model.refuses(of_visits({kSeen}, order), "no visit sends the message of factor 'plus' (sum) to its port 'terms'");
    model.refuses(of_visits({{3, {}, {0}}, kDownToBoth}, order),
                  "visit 0 to factor 'seen' (gaussian_noise) sends to port 'x' a message that reads port 'y'");
    model.refuses(of_visits({kSeen, {2, {}, {0, 1}}}, order), "refresh it there, or say in Schedule::approximate");
  }
  // Two visits of one factor: what one refreshes, the other may read, but not if any of them may come first.
  const std::vector<Visit> split{kSeen, {2, {0, 1}, {}}, {2, {}, {0, 1}}};
  CHECK(model.solve(of_visits(split, Order::repeated)).stop == Stop::converged);
  model.refuses(of_visits(split, Order::residual),
                "which this visit does not refresh; refresh it there, or say in Schedule::approximate");
}

TEST_CASE("check_schedule: one sweep is exact if each message is computed after all it depends on") {
  const ScheduledSum model;
  CHECK(model.solve(of_visits({kSeen, kDownToBoth})).stop == Stop::exact);  // priors are constant
  CHECK(model.solve(of_visits({kPriors[0], kPriors[1], kSeen, {2, {0, 1}, {0, 1}}})).stop == Stop::exact);
  CHECK(model.solve(of_visits({kSeen, kSeen, kDownToBoth, kDownToBoth})).stop == Stop::exact);  // twice: no harm
  const Report late = model.solve(of_visits({kDownToBoth, kSeen}));
  CHECK(late.stop == Stop::approximate);
  CHECK(late.line() == "one sweep in which a message comes before all it needs: approximate; take forward_backward");
}

TEST_CASE("check_schedule: a schedule may leave something out if it says why, and never converges then") {
  const ScheduledSum model;
  for (const Order order : {Order::once, Order::repeated, Order::residual}) {
    const Report report = model.solve(of_visits({kSeen}, order, "without the sum: approximate"));
    CHECK(report.stop == Stop::approximate);
    CHECK(report.line() == "without the sum: approximate");
  }
}

TEST_CASE("check_schedule: sends that no variable wants are taken out") {
  const ScheduledSum model;
  const Plan plan = model.plan(of_visits({{3, {0, 1}, {0, 1}}, kDownToBoth}));
  CHECK(plan->schedule.visits[0].send == PortSet{0});
}

TEST_CASE("check_schedule: a chain of a plate is followed slot by slot") {
  Graph g;
  constexpr std::size_t kSteps = 6;
  const auto x = g.variable("x", kSteps), y = g.observed("y", kSteps);
  g.factor("gaussian_prior", {gather(x, {0})}, {{"mean", 0.0}, {"variance", 1.0}});
  g.factor("gaussian_noise", {gather(x, {0, 1, 2, 3, 4}), gather(x, {1, 2, 3, 4, 5})}, {{"variance", 1.0}});
  g.factor("gaussian_noise", {x, y}, {{"variance", 1.0}});
  const auto changed = [&](auto change) {
    State state(compile(g,
                        {"mine",
                         [&](const Flow& flow) {
                           Schedule schedule = forward_backward().make(flow);
                           REQUIRE(!schedule.chains.empty());
                           change(schedule);
                           return schedule;
                         }},
                        standard_registry()));
    state.observe(y, {1, 2, 3, 4, 5, 6});
    return run(state.plan(), state).stop;
  };
  CHECK(changed([](Schedule&) {}) == Stop::exact);
  CHECK(changed([](Schedule& s) { s.visits.push_back(s.visits.back()); }) == Stop::exact);
  CHECK(changed([](Schedule& s) { s.chains[0].step *= -1; }) == Stop::approximate);
}

namespace {

// Changes that may leave a schedule as good as it was, or not.
void mutate(Schedule& schedule, const Flow& flow, oracle::RandomMessages& random) {
  auto& visits = schedule.visits;
  const auto any = [&] {
    return static_cast<std::ptrdiff_t>(random.uniform() * static_cast<double>(visits.size() - 1));
  };
  const double which = random.uniform();
  const std::ptrdiff_t i = any(), j = any();
  Visit& visit = visits[static_cast<std::size_t>(i)];
  if (which < 0.5) {  // neighbours change places
    std::swap(visit, visits[static_cast<std::size_t>(i) + 1]);
  } else if (which < 0.6) {
    std::swap(visit, visits[static_cast<std::size_t>(j)]);
  } else if (which < 0.7) {
    const Visit again = visit;
    visits.insert(visits.begin() + j, again);
  } else if (which < 0.8) {  // instead of one slot or one message: all
    visit.refresh = flow.reads(visit.factor), visit.send = flow.targets(visit.factor);
    if (random.chance(0.5)) visit.slot = kAllSlots;
  } else if (which < 0.85) {
    visits.erase(visits.begin() + i);
  } else if (!visit.refresh.empty()) {
    visit.refresh = visit.refresh - PortSet{visit.refresh.first()};
  }
}

struct Tally {
  int exact = 0, approximate = 0, refused = 0;
};

template <class LargestError>
void check_law(const Graph& graph, std::uint64_t seed, const LargestError& largest_error, Tally& tally) {
  static const Registry registry = standard_registry();
  oracle::RandomMessages random(seed);
  int changes = 0;
  const Scheduler mine{"mine", [&](const Flow& flow) {
                         Schedule schedule = forward_backward().make(flow);
                         if (!schedule.chains.empty()) return schedule;
                         changes = static_cast<int>(8 * random.uniform());
                         for (int n = 0; n < changes && schedule.visits.size() > 1; ++n) mutate(schedule, flow, random);
                         return schedule;
                       }};
  try {
    State state(compile(graph, mine, registry));
    INFO("seed ", seed, ", state.plan().schedule_text() ", state.plan().schedule_text());
    const auto [stop, error] = largest_error(state);
    if (stop == Stop::exact) CHECK(error <= 1e-9);
    if (changes == 0) CHECK(stop == Stop::exact);
    tally.exact += stop == Stop::exact;
    tally.approximate += stop == Stop::approximate;
  } catch (const Error&) {
    ++tally.refused;
  }
}

double error_of(const Gaussian& belief, double mean, double variance) {
  return std::max(std::abs(belief.mean() - mean) / std::max(1.0, std::abs(mean)),
                  std::abs(belief.variance() - variance) / std::max(1.0, variance));
}

constexpr std::uint64_t kScheduleSeed = 52'000;

}  // namespace

TEST_CASE("check_schedule: on random trees with random schedules, exact beliefs are those of the dense solve") {
  Tally tally;
  for (std::uint64_t i = 0; i < 600; ++i) {
    const oracle::GivenGraph given = oracle::random_tree(kScheduleSeed + i, 3 + i % 14);
    const auto truth = oracle::dense_posterior(given.graph, given.observed);
    check_law(
        given.graph, kScheduleSeed + i,
        [&](State& state) {
          given.observe_in(state);
          const Report report = run(state.plan(), state);
          double worst = 0;
          for (std::uint32_t v = 0; v < given.graph.variables().size(); ++v)
            worst = std::max(worst, error_of(state.belief(VariableId{v})[0], truth.mean[v], truth.variance[v]));
          return std::pair(report.stop, worst);
        },
        tally);
  }
  CHECK(std::min({tally.exact, tally.approximate, tally.refused}) >= 60);
}

TEST_CASE("check_schedule: the same slot by slot, of plates along a random tree") {
  Tally tally;
  for (std::uint64_t i = 0; i < 300; ++i) {
    oracle::RandomMessages random(2 * kScheduleSeed + i);
    const std::size_t n = 3 + i % 6;
    std::vector<std::uint32_t> parents, children;
    std::vector<double> values;
    for (std::uint32_t k = 1; k < n; ++k) {
      parents.push_back(static_cast<std::uint32_t>(random.uniform() * k));
      children.push_back(k);
    }
    for (std::size_t k = 0; k < n; ++k) values.push_back(3 * random.sign() * random.uniform());
    Graph g;
    const auto x = g.variable("x", n), y = g.observed("y", n);
    g.factor("gaussian_prior", {gather(x, {0})}, {{"mean", 0.0}, {"variance", 1.0}});
    g.factor("gaussian_noise", {gather(x, parents), gather(x, children)}, {{"variance", 0.5}});
    g.factor("gaussian_noise", {x, y}, {{"variance", 2.0}});
    const oracle::ScalarGraph scalar = oracle::written_out(g, {1, n - 1, n});
    std::map<std::uint32_t, double> observed;
    for (std::size_t k = 0; k < n; ++k) observed[scalar.elements[y.value][k].value] = values[k];
    const auto truth = oracle::dense_posterior(scalar.graph, observed);
    check_law(
        g, 2 * kScheduleSeed + i,
        [&](State& state) {
          state.observe(y, values);
          const Report report = run(state.plan(), state);
          double worst = 0;
          const Belief belief = state.belief(x);
          for (std::size_t k = 0; k < n; ++k) {
            const std::uint32_t v = scalar.elements[x.value][k].value;
            worst = std::max(worst, error_of(belief[k], truth.mean[v], truth.variance[v]));
          }
          return std::pair(report.stop, worst);
        },
        tally);
  }
  CHECK(std::min({tally.exact, tally.approximate, tally.refused}) >= 30);
}
