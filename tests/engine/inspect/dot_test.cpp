#include "engine/inspect/inspect.h"

#include "tests/oracles/solved.h"

TEST_CASE(
    "dot: variables are round, observed ones double, factors square, edges along the data flow, sizes in labels") {
  Graph g;
  const auto w = g.shared("w", 3), x = g.observed("x \"1\"", 3), p = g.variable("p", 3), z = g.variable("z");
  g.factor("product", {w, x, p});
  g.factor("sum", {p, z});
  CHECK(to_dot(g, standard_registry()) ==
        "digraph factor_graph {\n"
        "  rankdir=LR;\n"
        "  node [fontname=\"Helvetica\", fontsize=11];\n"
        "  v0 [shape=ellipse, label=\"w [3]\", style=filled, fillcolor=\"#dce6f5\"];\n"
        "  v1 [shape=ellipse, label=\"x \\\"1\\\" [3]\", peripheries=2];\n"
        "  v2 [shape=ellipse, label=\"p [3]\"];\n"
        "  v3 [shape=ellipse, label=\"z\"];\n"
        "  f0 [shape=box, style=filled, fillcolor=\"#333333\", fontcolor=white, label=\"product [3]\"];\n"
        "  v0 -> f0;\n"
        "  v1 -> f0;\n"
        "  f0 -> v2;\n"
        "  f1 [shape=box, style=filled, fillcolor=\"#333333\", fontcolor=white, label=\"sum\"];\n"
        "  v2 -> f1;\n"
        "  f1 -> v3;\n"
        "}\n");
}

TEST_CASE("dot: beliefs appear under the names, and a variable that was fused away has only its name") {
  Graph g;
  const auto w = g.variable("w", 2), x = g.observed("x", 2), p = g.variable("p", 2), z = g.variable("z");
  g.factor("gaussian_prior", {w}, {{"mean", 1.0}, {"variance", 4.0}});
  g.factor("product", {w, x, p});
  g.factor("sum", {p, z});
  const Plan plan = compile(g, forward_backward(), standard_registry());
  REQUIRE(plan->variable(p).eliminated);
  State state(plan);
  state.observe(x, {1.0, 2.0});
  (void)run(plan, state);
  const std::string drawn = to_dot(g, standard_registry(), state);
  CHECK(drawn.find("label=\"w [2]\\nN(1, 2^2)\\nN(1, 2^2)\"") != std::string::npos);
  CHECK(drawn.find("label=\"p [2]\"") != std::string::npos);
}
