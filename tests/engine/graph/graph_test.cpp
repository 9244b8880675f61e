#include "engine/graph/graph.h"

#include <doctest/doctest.h>

#include "engine/support/error.h"

using namespace dma;

TEST_CASE("graph: handles lead back to what was declared") {
  Graph g;
  const auto x = g.variable("x", 3), y = g.observed("y"), w = g.shared("w", 2, Family::log_normal);
  const FactorId f = g.factor("sum", {x, {"total", y}}, {{"coefficients", 2.0}}, {.name = "f", .method = "dma"});
  CHECK(g[x].name == "x");
  CHECK(g[x].size == 3);
  CHECK((!g[x].observed && !g[x].shared));
  CHECK((g[y].observed && g[y].size == 1));
  CHECK((g[w].shared && g[w].family == Family::log_normal));
  CHECK(g[f].kind == "sum");
  CHECK(g[f].method == "dma");
  CHECK(g[f].connections[1].port == "total");
  CHECK(g.find_variable("w") == w);
  CHECK(g.find_factor("f") == f);
  CHECK_THROWS_WITH_AS(g.find_variable("ww"), "no variable 'ww' in this graph; did you mean 'w'? known: x, y, w",
                       Error);
  CHECK_THROWS_WITH_AS(g.find_factor("g"), "no factor 'g' in this graph; did you mean 'f'? known: f", Error);
}

TEST_CASE("graph: an empty name is numbered, and never collides with a name the user took") {
  Graph g;
  CHECK(g[g.variable("")].name == "v0");
  g.variable("v2");
  CHECK(g[g.variable("")].name == "v3");
  const auto x = g.find_variable("v0"), y = g.find_variable("v2");
  g.factor("copy", {x, y}, {}, {.name = "copy1"});
  CHECK(g[g.factor("copy", {x, y})].name() == "copy2");
}

TEST_CASE("graph: describes itself with sizes, families and index maps") {
  Graph g;
  const auto x = g.variable("x", 2), y = g.observed("y", 4), s = g.shared("s");
  g.factor("product", {row(x), all_to_one(s), y});
  CHECK(describe(g) ==
        "3 variables, 1 factors\n"
        "  x[2] gaussian\n"
        "  y[4] gaussian, observed\n"
        "  s[1] gaussian, shared\n"
        "  product0: product(row x, all_to_one s, y)\n");
}
