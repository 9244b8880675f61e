// Promises of run(): identical bytes in repeated runs, no allocation, faults counted and named, damping, warm starts,
// order of priority.
#include <cstring>

#include "tests/oracles/random_graphs.h"
#include "tests/oracles/solved.h"

namespace {

using oracle::GivenGraph;

std::vector<Scheduler> all_rules() { return {forward_backward(), forward(), flooding(), sequential(), residual()}; }

// Every belief as bytes.
std::vector<double> bits(const GivenGraph& given, const State& state) {
  std::vector<double> all;
  for (std::uint32_t v = 0; v < given.graph.variables().size(); ++v) {
    const Gaussian g = state.belief(VariableId{v})[0];
    all.insert(all.end(), {g.tau, g.rho});
  }
  return all;
}
bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

// x -> bad -> y: the message to y is answer's result, the message to x is uniform.
Registry with_bad_kind(Gaussian (*answer)(const Gaussian&)) {
  Registry registry = standard_registry();
  registry.add(kind("bad")
                   .input("x")
                   .output("y")
                   .message("dma", "y", [answer](const Gaussian& x) { return answer(x); })
                   .message("dma", "x", [](const Gaussian&) { return Gaussian::uniform(); }));
  return registry;
}
Graph bad_graph(std::size_t size) {
  Graph g;
  const auto x = g.variable("x", size), y = g.variable("y", size);
  std::vector<double> means;
  for (std::size_t i = 0; i < size; ++i) means.push_back(static_cast<double>(i));
  g.factor("gaussian_prior", {x}, {{"mean", means}, {"variance", 1.0}});
  g.factor("bad", {x, y}, {}, {.name = "culprit"});
  return g;
}

}  // namespace

TEST_CASE("run: runs are bit-identical, on one state and on two, whatever was run before") {
  const GivenGraph tree = oracle::random_tree(21, 80), loop = oracle::ring(22, 9, 0.7);
  for (const GivenGraph* given : {&tree, &loop})
    for (const Scheduler& rule : all_rules()) {
      const Plan plan = compile(given->graph, rule, standard_registry());
      const Plan again = compile(given->graph, rule, standard_registry());
      State used(plan), fresh(again);
      for (const auto& [variable, value] : given->observed) used.observe(VariableId{variable}, 100 - 7 * value);
      run(plan, used);
      given->observe_in(used);
      given->observe_in(fresh);
      run(again, fresh);
      CAPTURE(rule.name);
      for (int turn = 0; turn < 2; ++turn) {
        run(plan, used);
        CHECK(same_bits(bits(*given, fresh), bits(*given, used)));
      }
    }
}

TEST_CASE("report: counts and names messages that are not valid, and keeps the old ones") {
  const auto negative = [](const Gaussian& x) { return x.mean() < 2 ? Gaussian{1.0, 2.0} : Gaussian{0.0, -1.0}; };
  const auto not_a_number = [](const Gaussian& x) {
    return x.mean() < 2 ? Gaussian{1.0, 2.0} : Gaussian{0.0 / x.rho * kInfinity, 1.0};
  };
  for (const auto answer : {+negative, +not_a_number}) {
    const Registry registry = with_bad_kind(answer);
    const Graph g = bad_graph(5);
    for (const Scheduler& rule :
         {forward_backward(), flooding({.limit = 10}), sequential({.limit = 10}), residual({.limit = 10})}) {
      const auto [plan, state, report] = oracle::solved(compile(g, rule, registry));
      CAPTURE(rule.name);
      CHECK(report.faults >= 3);
      CHECK(report.faults % 3 == 0);
      CHECK(report.first_fault.text() == "culprit[2].y");
      CHECK(report.first_fault_sweep == 1);
      CHECK(report.text().find("refused, the first to culprit[2].y in sweep 1") != std::string::npos);
      const Belief y = state.belief(g.find_variable("y"));
      CHECK(y[1] == Gaussian{1.0, 2.0});
      CHECK(y[2].is_uniform());  // its old message
    }
  }
}

TEST_CASE("report: a fault among scalar factors is named by the factor, and later faults do not replace it") {
  const Registry registry = with_bad_kind(+[](const Gaussian& x) {
    return x.mean() < 1 ? Gaussian{1.0, 2.0} : Gaussian{0.0, -1.0};
  });
  Graph g;
  for (int i = 0; i < 4; ++i) {
    const auto x = g.variable(""), y = g.variable("");
    g.factor("gaussian_prior", {x}, {{"mean", static_cast<double>(i)}, {"variance", 1.0}});
    g.factor("bad", {x, y}, {}, {.name = "bad" + std::string(1, static_cast<char>('A' + i))});
  }
  for (const Scheduler& rule : {forward_backward(), flooding({.limit = 3}), residual({.limit = 3})}) {
    const Report report = oracle::solved(compile(g, rule, registry)).report;
    CHECK(report.first_fault.text() == "badB.y");
  }
}

TEST_CASE("report: a prior that is not valid is a fault in every run") {
  Registry registry = standard_registry();
  registry.add(kind("bad_prior").output("x").message("dma", "x", [] { return Gaussian{0.0, -1.0}; }));
  Graph g;
  g.factor("bad_prior", {g.variable("x")}, {}, {.name = "wrong"});
  const Plan plan = compile(g, forward_backward(), registry);
  State state(plan);
  for (int repeat = 0; repeat < 2; ++repeat) {
    const Report report = run(plan, state);
    CHECK(report.faults == 1);
    CHECK(report.first_fault.text() == "wrong.x");
    CHECK(report.stop == Report::Stop::approximate);
    CHECK(report.line().starts_with("one sweep with refused messages: approximate; 1 message refused"));
  }
}

TEST_CASE("run: damping keeps its fraction of the old message in natural parameters") {
  // noise to y after n sweeps is (1 - damping^n) of the undamped message.
  Graph g;
  const auto x = g.variable("x"), y = g.variable("y");
  g.factor("gaussian_prior", {x}, {{"mean", 2.0}, {"variance", 1.0}});
  g.factor("gaussian_noise", {x, y}, {{"variance", 3.0}});
  const Gaussian whole = Gaussian::from_moments(2.0, 4.0);
  for (const double damping : {0.0, 0.25, 0.8})
    for (int n = 1; n <= 4; ++n) {
      const auto [plan, state, report] =
          oracle::solved(compile(g, flooding({.tolerance = 0, .limit = n, .damping = damping}), standard_registry()));
      const double fraction = 1 - std::pow(damping, n);
      const Gaussian found = state.belief(y)[0];
      CHECK(found.tau == oracle::relative(fraction * whole.tau, 1e-14));
      CHECK(found.rho == oracle::relative(fraction * whole.rho, 1e-14));
    }
}

TEST_CASE("run: a warm start goes on where the last run stopped, a cold one begins anew") {
  const GivenGraph given = oracle::ring(25, 8, 0.9);
  for (const auto& rule : {flooding, sequential}) {
    const Plan two = compile(given.graph, rule({.tolerance = 0, .limit = 2}), standard_registry());
    const Plan six = compile(given.graph, rule({.tolerance = 0, .limit = 6}), standard_registry());
    State in_steps(two), at_once(six);
    given.observe_in(in_steps);
    given.observe_in(at_once);
    run(two, in_steps);
    const auto cold = bits(given, in_steps);
    run(two, in_steps, {.warm = true});
    run(two, in_steps, {.warm = true});
    run(six, at_once);
    CHECK(same_bits(bits(given, at_once), bits(given, in_steps)));
    run(two, in_steps);
    CHECK(same_bits(cold, bits(given, in_steps)));
  }
}

TEST_CASE("run: a warm residual run on converged messages computes each message once") {
  const GivenGraph given = oracle::ring(26, 8, 0.5);
  auto [plan, state, report] = oracle::solved(compile(given.graph, residual(), standard_registry()), given.values());
  const Report again = run(plan, state, {.warm = true});
  CHECK(again.stop == Report::Stop::converged);
  CHECK(again.sweeps <= 2);
}

TEST_CASE("run: scalar factors on observed variables agree, whether the values stand side by side or not") {
  constexpr std::size_t kCount = 20;
  constexpr double kPrior = 4, kNoise = 0.25;
  // order[i]: the position of the i-th factor's observed variable.
  const auto check = [&](const std::vector<std::size_t>& order) {
    Graph g;
    std::vector<VariableId> x, y;
    for (std::size_t i = 0; i < kCount; ++i) x.push_back(g.variable("")), y.push_back(g.observed(""));
    for (const VariableId v : x) g.factor("gaussian_prior", {v}, {{"mean", 0.0}, {"variance", kPrior}});
    for (const std::size_t i : order) g.factor("gaussian_noise", {x[i], y[i]}, {{"variance", kNoise}});
    for (const auto& rule : all_rules()) {
      if (rule.name == "forward") continue;  // sends nothing back to x
      CAPTURE(rule.name);
      const Plan plan = compile(g, rule, standard_registry());
      State state(plan);
      for (std::size_t i = 0; i < kCount; ++i) state.observe(y[i], static_cast<double>(i));
      run(plan, state);
      for (std::size_t i = 0; i < kCount; ++i) {
        const Gaussian belief = state.belief(x[i])[0];
        CHECK(belief.rho == oracle::relative(1 / kPrior + 1 / kNoise, 1e-14));
        CHECK(belief.tau == oracle::relative(static_cast<double>(i) / kNoise, 1e-14, 1));
      }
    }
  };
  std::vector<std::size_t> order(kCount);
  for (std::size_t i = 0; i < kCount; ++i) order[i] = i;
  check(order);
  std::ranges::reverse(order);
  check(order);
  std::swap(order[3], order[11]);
  check(order);
}
