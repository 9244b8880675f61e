// Memory of a model of many scalar nodes: the graph, its plan and a state together.
#include "tests/oracles/allocations.h"
#include "tests/oracles/solved.h"

namespace {

constexpr int kSteps = 30000;

VariableId add_step(Graph& g, std::optional<VariableId> before) {
  const VariableId x = g.variable("");
  if (before)
    g.factor("gaussian_noise", {*before, x}, {{"variance", 1.0}});
  else
    g.factor("gaussian_prior", {x}, {{"mean", 0.0}, {"variance", 100.0}});
  g.factor("gaussian_noise", {x, g.observed("")}, {{"variance", 4.0}});
  return x;
}

}  // namespace

TEST_CASE("node memory: a step of a chain built node by node takes less than 400 bytes, compiled and ready to run") {
  const Registry registry = standard_registry();
  const std::int64_t before = oracle::bytes_held();
  Graph g;
  std::optional<VariableId> x;
  for (int t = 0; t < kSteps; ++t) x = add_step(g, x);
  const double of_graph = static_cast<double>(oracle::bytes_held() - before) / kSteps;
  const Plan plan = compile(g, forward_backward(), registry);
  State state(plan);
  const double in_all = static_cast<double>(oracle::bytes_held() - before) / kSteps;
  CHECK(of_graph < 100);
  CHECK(in_all < 400);
}

TEST_CASE(
    "node memory: lists of parameters are shared where they are the same to the bit, and kept where they are not") {
  Graph g;
  const VariableId x = g.variable("");
  const double values[] = {1.0, 2.0, 1.0, 0.0, -0.0, 1.0};
  for (const double value : values) g.factor("gaussian_prior", {x}, {{"mean", value}, {"variance", 3.0}});
  g.factor("sum", {x, g.variable("")}, {{"coefficients", {1.0, 2.0}}});
  for (std::size_t i = 0; i < std::size(values); ++i) {
    const auto factor = g.factors()[i];
    REQUIRE(factor.parameters.size() == 2);
    CHECK(factor.parameters[0].first == "mean");
    CHECK(factor.parameters[0].second.numbers[0] == values[i]);
    CHECK(std::signbit(factor.parameters[0].second.numbers[0]) == std::signbit(values[i]));
    CHECK(factor.parameters[1].second.numbers[0] == 3.0);
  }
  CHECK(g.factors()[std::size(values)].parameters[0].second.numbers.size() == 2);
}
