#include "engine/compile/compile.h"

#include <memory>

#include "engine/run/solver.h"
#include "tests/oracles/solved.h"

namespace {

// z = w x + noise, observed.
struct PlanLine {
  Graph graph;
  VariableId w = graph.variable("w"), x = graph.observed("x"), z = graph.variable("z"), y = graph.observed("y");

  PlanLine() {
    graph.factor("gaussian_prior", {w}, {{"mean", 1.0}, {"variance", 1.0}});
    graph.factor("product", {w, x, z});
    graph.factor("gaussian_noise", {z, y}, {{"variance", 0.5}});
  }
  void observe(State& state) const {
    state.observe(x, 2.0);
    state.observe(y, 3.0);
  }
};

// Returns a fixed belief, and counts its runs in the state.
class FixedAnswer final : public Solver {
 public:
  struct Memory final : SolverMemory {
    int runs = 0;
  };
  std::unique_ptr<SolverMemory> make_memory(const PlanData&) const override { return std::make_unique<Memory>(); }
  Report run(State& state, const RunOptions&) const override {
    static_cast<Memory&>(*state.solver_memory()).runs += 1;
    Report report;
    report.sweeps = 7;
    return report;
  }
  Belief belief(const State& state, VariableId) const override {
    return {"answer", {}, {Gaussian::point(static_cast<Memory&>(*state.solver_memory()).runs)}};
  }
};

}  // namespace

TEST_CASE("plan: a state made of a temporary plan keeps it alive") {
  const PlanLine model;
  State state(compile(model.graph, forward_backward(), standard_registry()));
  model.observe(state);
  run(state.plan(), state);
  CHECK(state.belief(model.w).mean() == doctest::Approx((1 + 2 * 3 / 0.5) / (1 + 4 / 0.5)));
}

TEST_CASE("plan: copies, moved and assigned handles are the same plan; their states go on working") {
  const PlanLine model;
  Plan plan = compile(model.graph, forward_backward(), standard_registry());
  State state(plan);
  const Plan copy = plan;
  const Plan moved = std::move(plan);
  CHECK(copy == moved);
  CHECK(plan == moved);  // NOLINT: a handle is never empty
  plan = compile(model.graph, flooding(), standard_registry());
  CHECK(plan != copy);
  model.observe(state);
  CHECK(run(moved, state).converged());
  CHECK_THROWS_AS(run(plan, state), Error);
}

TEST_CASE("plan: a report outlives the plan and the state it tells of") {
  const PlanLine model;
  std::optional<Report> report;
  {
    State state(compile(model.graph, flooding(), standard_registry()));
    model.observe(state);
    report = run(state.plan(), state);
  }
  CHECK(report->signal_to_noise_at.text() == "product1.x");
  CHECK(report->text().find("product1.x") != std::string::npos);
}

TEST_CASE("plan: without a graph it is empty, and so is its state") {
  const Plan none;
  State state(none);
  CHECK(none.messages_per_sweep() == 0);
  CHECK(describe(none).starts_with("plan: 0 variables"));
  CHECK(run(none, state).messages == 0);
}

TEST_CASE("plan: one with a solver of its own is run and read by that solver, with memory in each state") {
  const PlanLine model;
  PlanData data = *compile(model.graph, forward_backward(), standard_registry());
  data.solver = std::make_shared<FixedAnswer>();
  const Plan plan(std::make_shared<const PlanData>(std::move(data)));
  State one(plan), other(plan);
  CHECK(run(plan, one).sweeps == 7);
  run(plan, one);
  run(plan, other);
  CHECK(one.belief(model.w).mean() == 2);
  CHECK(other.belief(model.w).mean() == 1);
}
