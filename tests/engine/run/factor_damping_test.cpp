// Damping of single factors. The oracle for one sweep is the formula: a fraction of the old message is kept.
#include "tests/oracles/solved.h"

namespace {

// Three unknowns in a ring, each with one reading; the links may be damped individually.
struct Ring {
  Graph g;
  std::vector<VariableId> x, y;
  std::vector<FactorId> links;
  explicit Ring(const std::vector<std::optional<double>>& damping) {
    for (int i = 0; i < 3; ++i) x.push_back(g.variable("")), y.push_back(g.observed(""));
    for (std::size_t i = 0; i < 3; ++i) {
      links.push_back(g.factor("gaussian_noise", {x[i], x[(i + 1) % 3]}, {{"variance", 0.7}}, {.damping = damping[i]}));
      g.factor("gaussian_noise", {x[i], y[i]}, {{"variance", 1.5}});
    }
  }
  State after(const auto& rule, Report* report = nullptr) const {
    const Plan plan = compile(g, rule, standard_registry());
    State state(plan);
    for (std::size_t i = 0; i < 3; ++i) state.observe(y[i], 1.0 + static_cast<double>(i * i));
    const Report done = run(plan, state);
    if (report != nullptr) *report = done;
    return state;
  }
};

}  // namespace

TEST_CASE("damping of a factor: only its own messages keep that fraction of the old ones") {
  const Ring plain({{}, {}, {}}), one({{}, 0.75, {}});
  // y's message arrives in the second sweep, when the old messages of the links are uniform.
  const State undamped = plain.after(flooding({.limit = 2})), damped = one.after(flooding({.limit = 2}));
  const State later = plain.after(flooding({.limit = 3})), later_damped = one.after(flooding({.limit = 3}));
  for (const char* const port : {"x", "y"}) {
    const Gaussian full = undamped.messages(plain.links[1], port)[0], part = damped.messages(one.links[1], port)[0];
    REQUIRE(full.rho > 0);
    CHECK(part.tau == doctest::Approx(0.25 * full.tau));
    CHECK(part.rho == doctest::Approx(0.25 * full.rho));
    CHECK(undamped.messages(plain.links[0], port)[0] == damped.messages(one.links[0], port)[0]);
    const Gaussian next = later_damped.messages(one.links[1], port)[0];
    CHECK(next.rho > part.rho);
    CHECK(next.rho < later.messages(plain.links[1], port)[0].rho);
  }
}

TEST_CASE("damping of a factor: the fixed point is the same, and 0 overrides the schedule's damping") {
  Report slow, quick;
  const Iteration to_the_end{.tolerance = 1e-13, .limit = 5000};
  const Ring plain({{}, {}, {}});
  const State expected = plain.after(flooding(to_the_end));
  for (const Scheduler& rule : {flooding(to_the_end), residual(to_the_end)}) {
    const Ring ring({0.6, {}, 0.3});
    const State state = ring.after(rule);
    for (std::size_t i = 0; i < 3; ++i)
      CHECK(oracle::distance(state.belief(ring.x[i])[0], expected.belief(plain.x[i])[0]) < 1e-9);
  }
  Iteration damped = to_the_end;
  damped.damping = 0.9;
  (void)Ring({{}, {}, {}}).after(flooding(damped), &slow);
  (void)Ring({0.0, 0.0, 0.0}).after(flooding(damped), &quick);
  CHECK(slow.converged());
  CHECK(quick.sweeps < slow.sweeps);
  // Joint is exact with any damping, and a single sweep has no old messages.
  Report exact;
  (void)Ring({0.5, {}, {}}).after(joint(), &exact);
  CHECK(exact.stop == Report::Stop::exact);
  Graph g;
  const auto x = g.variable("x"), y = g.observed("y");
  g.factor("gaussian_prior", {x}, {{"mean", 0.0}, {"variance", 1.0}}, {.damping = 0.5});
  g.factor("gaussian_noise", {x, y}, {{"variance", 1.0}}, {.damping = 0.5});
  const auto [plan, state, report] = oracle::solved(compile(g, forward_backward(), standard_registry()), {{y, 3.0}});
  CHECK(report.stop == Report::Stop::exact);
  CHECK(state.belief(x).mean() == doctest::Approx(1.5));
}

TEST_CASE("damping of a factor: a fraction that is none is refused by name") {
  for (const double wrong : {1.0, -0.5, 2.0, std::numeric_limits<double>::quiet_NaN()}) {
    Graph g;
    const auto x = g.variable("x");
    g.factor("gaussian_prior", {x}, {{"mean", 0.0}, {"variance", 1.0}}, {.name = "start", .damping = wrong});
    CHECK_THROWS_WITH_AS(compile(g, flooding(), standard_registry()), doctest::Contains("factor 'start'"), Error);
    CHECK_THROWS_WITH_AS(compile(g, flooding(), standard_registry()), doctest::Contains("it must be in [0, 1)"), Error);
  }
}

TEST_CASE(
    "damping: what is left of the way when a run has converged is what the tolerance says, however strong it is") {
  constexpr double kTolerance = 1e-4, kMean = 2;
  for (const auto& rule : {flooding, sequential, residual})
    for (const double damping : {0.0, 0.5, 0.9, 0.99, 0.999}) {
      Graph g;
      const auto x = g.variable("x"), y = g.observed("y");
      g.factor("gaussian_prior", {x}, {{"mean", 0.0}, {"variance", 1.0}});
      g.factor("gaussian_noise", {x, y}, {{"variance", 1.0}});
      const auto [plan, state, report] = oracle::solved(
          compile(g, rule({.tolerance = kTolerance, .limit = 100000, .damping = damping}), standard_registry()),
          {{y, 2 * kMean}});
      INFO("plan->schedule.name ", plan->schedule.name, ", damping ", damping);
      CHECK(report.converged());
      CHECK(std::abs(state.belief(x).mean() - kMean) < 2 * kTolerance);
    }
}
