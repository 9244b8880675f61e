#include "engine/run/diagnosis.h"

#include "tests/oracles/solved.h"

namespace {

void run_with(const Graph& graph, const std::vector<std::pair<VariableId, std::vector<double>>>& values) {
  for (const Scheduler& scheduler : {forward_backward(), flooding()}) {
    State state(compile(graph, scheduler, standard_registry()));
    for (const auto& [variable, numbers] : values) state.observe(variable, numbers);
    run(state.plan(), state);
  }
}

}  // namespace

TEST_CASE("contradiction: copies observed at different values name the copy factor") {
  Graph g;
  const auto x = g.variable("x"), a = g.observed("a"), b = g.observed("b");
  g.factor("copy", {x, a, b}, {}, {.name = "same"});
  CHECK_THROWS_WITH_AS(run_with(g, {{a, {1}}, {b, {2}}}), doctest::Contains("factor 'same' (copy)"), Contradiction);
  CHECK_NOTHROW(run_with(g, {{a, {2}}, {b, {2}}}));
}

TEST_CASE("contradiction: an observed sum that its observed terms do not give names the sum") {
  Graph g;
  const auto a = g.observed("a"), b = g.observed("b"), c = g.observed("c");
  g.factor("sum", {a, b, c}, {{"coefficients", std::vector{1.0, 3.0}}}, {.name = "total"});
  CHECK_THROWS_WITH_AS(run_with(g, {{a, {1}}, {b, {1}}, {c, {5}}}),
                       doctest::Contains("factor 'total' (sum): its variables are known exactly and "
                                         "contradict it: its inputs make 'total' 4, but it is exactly 5"),
                       Contradiction);
  CHECK_NOTHROW(run_with(g, {{a, {1}}, {b, {1}}, {c, {4}}}));
  CHECK_NOTHROW(run_with(g, {{a, {1e15}}, {b, {-1e15 / 3}}, {c, {0.25}}}));  // within rounding
}

TEST_CASE("contradiction: in a plate the slot is named, and parameters are those of the slot") {
  Graph g;
  const auto x = g.observed("x", 3), y = g.observed("y", 3);
  g.factor("leaky_relu", {x, y}, {{"slope", std::vector{0.5, 0.1, 0.2}}}, {.name = "bend"});
  CHECK_NOTHROW(run_with(g, {{x, {-1, -1, -1}}, {y, {-0.5, -0.1, -0.2}}}));
  CHECK_THROWS_WITH_AS(run_with(g, {{x, {-1, -1, -1}}, {y, {-0.5, -0.1, -0.3}}}), doctest::Contains("factor 'bend[2]'"),
                       Contradiction);
}

TEST_CASE("contradiction: many scalar variables known exactly are looked at, and agree") {
  Graph g;
  std::vector<VariableId> seen;
  for (int i = 0; i < 2000; ++i) {
    const auto x = g.variable("");
    seen.push_back(g.observed(""));
    g.factor("gaussian_prior", {x}, {{"mean", 0.0}, {"variance", 1.0}});
    g.factor("gaussian_noise", {x, seen.back()}, {{"variance", 0.0}});
  }
  State state(compile(g, forward_backward(), standard_registry()));
  for (const VariableId y : seen) state.observe(y, 1.0);
  CHECK_NOTHROW(run(state.plan(), state));
}
