#include "engine/graph/graph.h"

#include <doctest/doctest.h>

#include "engine/support/error.h"

using namespace dma;

TEST_CASE("graph: handles lead back to what was declared") {
  Graph g;
  const auto x = g.variable("x", 3), y = g.observed("y"), w = g.shared("w", 2, "log_normal");
  const FactorId f = g.factor("sum", {x, {"total", y}}, {{"coefficients", 2.0}}, {.name = "f", .method = "dma"});
  CHECK(g[x].name == "x");
  CHECK(g[x].size == 3);
  CHECK((!g[x].observed && !g[x].shared));
  CHECK((g[y].observed && g[y].size == 1));
  CHECK((g[w].shared && g[w].family == "log_normal"));
  CHECK(g[f].kind == "sum");
  CHECK(g[f].method == "dma");
  CHECK(g[f].connections[1].port == "total");
  CHECK(g.find_variable("w") == w);
  CHECK(g.find_factor("f") == f);
  CHECK_THROWS_WITH_AS(g.find_variable("ww"), "no variable 'ww' in this graph; did you mean 'w'? known: x, y, w",
                       Error);
  CHECK_THROWS_WITH_AS(g.find_factor("g"), "no factor 'g' in this graph; known: f", Error);
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

TEST_CASE("graph: a number makes way for the name a user gives later") {
  Graph g;
  const auto first = g.variable(""), second = g.variable("v0"), third = g.variable("");
  CHECK(g[second].name == "v0");
  CHECK(g.find_variable("v0") == second);
  CHECK(g.find_variable(g[first].name) == first);
  CHECK(g.find_variable(g[third].name) == third);
  CHECK(g[first].name != g[third].name);
  const std::string displaced = g[first].name;
  const auto fourth = g.variable(displaced);  // and a second time
  CHECK(g.find_variable(displaced) == fourth);
  CHECK(g.find_variable(g[first].name) == first);
  CHECK_THROWS_WITH_AS(g.variable("v0"),
                       "two variables are named 'v0'; give each its own name, or an empty one to have it numbered",
                       Error);
  const auto f = g.factor("copy", {first, second}), named = g.factor("copy", {first, third}, {}, {.name = "copy0"});
  CHECK(g.find_factor("copy0") == named);
  CHECK(g.find_factor(g[f].name()) == f);
}

TEST_CASE("graph: numbered names of kinds that end in a digit are unambiguous") {
  Graph g;
  const auto x = g.variable("x");
  for (int i = 0; i < 13; ++i) g.factor(i == 2 ? "log1" : "log", {x});
  CHECK(g[FactorId{2}].name() == "log1_2");
  CHECK(g[FactorId{12}].name() == "log12");
  for (std::uint32_t i = 0; i < 13; ++i) CHECK(g.find_factor(g[FactorId{i}].name()) == FactorId{i});
}

TEST_CASE("graph: an id beyond the last is an error") {
  Graph g;
  g.factor("gaussian_prior", {g.variable("x")});
  CHECK_THROWS_WITH_AS(g[VariableId{1}], "variable 1 is not of this graph, which has 1", Error);
  CHECK_THROWS_WITH_AS(g[FactorId{7}], "factor 7 is not of this graph, which has 1", Error);
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

TEST_CASE("graph: every function refuses the id of another graph") {
  Graph g, other;
  g.variable("x");
  const VariableId foreign = other.variable("a"), beyond{7};
  for (const VariableId id : {foreign, beyond}) {
    CHECK_THROWS_WITH_AS((void)g[id], doctest::Contains("is not of this graph"), Error);
    CHECK_THROWS_WITH_AS((void)g.name(id), doctest::Contains("is not of this graph"), Error);
    CHECK_THROWS_WITH_AS((void)g.given_name(id), doctest::Contains("is not of this graph"), Error);
    CHECK_THROWS_WITH_AS((void)g.without_name(id), doctest::Contains("is not of this graph"), Error);
  }
}

TEST_CASE("graph: a name that would change what a terminal shows is refused, and its error shows it") {
  Graph g;
  const auto x = g.variable("größe");
  CHECK_THROWS_WITH_AS(g.variable("\x1b[31mred"),
                       "the name of a variable, '\\x1b[31mred', holds control characters; rename it", Error);
  CHECK_THROWS_WITH_AS(g.observed("a\nb"), doctest::Contains("'a\\x0ab'"), Error);
  CHECK_THROWS_WITH_AS(g.shared("\u202eabc"), doctest::Contains("control characters"), Error);
  CHECK_THROWS_WITH_AS(g.factor("copy", {x, x}, {}, {.name = "\x9b"}), doctest::Contains("the name of a factor"),
                       Error);
  CHECK(g.variables().size() == 1);
}
