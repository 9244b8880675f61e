#include "engine/inspect/dot.h"

#include <doctest/doctest.h>

#include "factors/standard_registry.h"

using namespace dma;

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
