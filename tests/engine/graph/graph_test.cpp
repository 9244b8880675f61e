#include "engine/graph/graph.h"

#include <boost/random/mersenne_twister.hpp>
#include <boost/random/uniform_int_distribution.hpp>
#include <set>

#include "tests/oracles/solved.h"

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
  CHECK(g.find_variable(g[first].name.text()) == first);
  CHECK(g.find_variable(g[third].name.text()) == third);
  CHECK(g[first].name.text() != g[third].name.text());
  const std::string displaced = g[first].name;
  const auto fourth = g.variable(displaced);  // and a second time
  CHECK(g.find_variable(displaced) == fourth);
  CHECK(g.find_variable(g[first].name.text()) == first);
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

TEST_CASE("graph: after forget, the nodes that stay read as those of a graph that forgets nothing") {
  Graph whole, g = whole;  // a copy: ids of one are valid in the other
  boost::random::mt19937_64 random(5);
  const auto below = [&](std::uint32_t end) {
    return boost::random::uniform_int_distribution<std::uint32_t>(0, end - 1)(random);
  };
  std::set<std::uint32_t> alive;
  std::uint32_t first_variable = 0, first_factor = 0;
  for (int turn = 0; turn < 2000; ++turn) {
    const std::string name = below(3) == 0 ? "x" + std::to_string(turn) + "." : "";
    const std::uint32_t size = 1 + below(3), new_one = whole.next_variable();
    const std::vector<std::string> categories = {"no" + std::to_string(turn), "yes"};
    const auto any =
        alive.empty() ? new_one : *std::next(alive.begin(), below(static_cast<std::uint32_t>(alive.size())));
    std::vector<Connection> ends{VariableId{new_one}};
    if (below(2) == 0) ends.emplace_back(VariableId{any});
    if (below(4) == 0) ends.push_back(gather(VariableId{any}, {0, below(9)}));
    const ParameterList parameters = {{"a", below(3)}, {"b", std::vector<double>(1 + below(2), below(9))}};
    const FactorOptions options{.name = below(5) == 0 ? "f" + std::to_string(turn) + "." : ""};
    for (Graph* const each : {&whole, &g}) {
      const VariableId added = each->variable(name, size, size == 1 ? "bernoulli" : "");
      if (size == 1) each->name_categories(added, categories);
      each->factor(size == 2 ? "sum" : "product", ends, parameters, options);
    }
    alive.insert(new_one);
    if (below(4) == 0) {
      first_factor = std::max(first_factor, whole.next_factor() - std::min(whole.next_factor(), below(15)));
      first_variable = std::max(first_variable, whole.next_variable() - std::min(whole.next_variable(), below(10)));
      std::set<std::uint32_t> used;
      for (std::uint32_t f = first_factor; f < whole.next_factor(); ++f)
        for (const Connection& c : whole[FactorId{f}].connections) used.insert(c.variable.value);
      std::erase_if(alive, [&](std::uint32_t v) { return v < first_variable && !used.contains(v) && below(8) > 0; });
      const std::vector<std::uint32_t> kept(alive.begin(), alive.lower_bound(first_variable));
      g.forget(first_variable, first_factor, kept);
    }
    REQUIRE(g.variables().size() == alive.size());
    std::size_t place = 0;
    for (const std::uint32_t v : alive) {
      const auto found = g[VariableId{v}], expected = whole[VariableId{v}];
      REQUIRE(g.variable_id(place++) == VariableId{v});
      REQUIRE((found.name.text() == expected.name.text() && found.size == expected.size &&
               found.family == expected.family));
      REQUIRE(g.find_variable(expected.name.text()) == VariableId{v});
      REQUIRE(std::ranges::equal(g.categories({v}), whole.categories({v})));
    }
    REQUIRE(g.factors().size() == whole.next_factor() - first_factor);
    for (std::uint32_t f = first_factor; f < whole.next_factor(); ++f) {
      const auto found = g[FactorId{f}], expected = whole[FactorId{f}];
      REQUIRE((found.name() == expected.name() && found.kind == expected.kind));
      REQUIRE(g.find_factor(expected.name()) == FactorId{f});
      REQUIRE(std::ranges::equal(found.connections, expected.connections, [](const auto& a, const auto& b) {
        return a.variable == b.variable && a.reach == b.reach && a.table == b.table.get();
      }));
      REQUIRE(std::ranges::equal(found.parameters, expected.parameters, [](const auto& a, const auto& b) {
        return a.first == b.first && a.second.numbers == b.second.numbers;
      }));
    }
  }
}

TEST_CASE("graph: a node that was forgotten is an error, and its name is free") {
  Graph g;
  const VariableId a = g.variable("a"), b = g.variable("b"), c = g.variable("");
  const FactorId f = g.factor("copy", {a, b}, {}, {.name = "f"}), h = g.factor("copy", {a, c});
  g.forget(2, 1, std::vector<std::uint32_t>{0});
  CHECK(g[a].name == "a");
  CHECK(g[h].name() == "copy1");
  CHECK(describe(g) == "2 variables, 1 factors\n  a[1] gaussian\n  v2[1] gaussian\n  copy1: copy(a, v2)\n");
  CHECK_THROWS_WITH_AS((void)g[b], "variable 1 was removed by forget(); keep it longer", Error);
  CHECK_THROWS_WITH_AS((void)g[f], "factor 0 was removed by forget(); keep it longer", Error);
  CHECK_THROWS_WITH_AS(g.factor("copy", {a, b}), "factor 2 (copy) is connected to variable 1, which was removed",
                       Error);
  CHECK_THROWS_WITH_AS(g.find_variable("b"), "no variable 'b' in this graph; known: a, v2", Error);
  CHECK_THROWS_WITH_AS(g.forget(4, 0), "forget: before variable 4 and factor 0; the graph has 3 and 2", Error);
  CHECK_THROWS_WITH_AS(
      compile(g, flooding(), standard_registry()),
      "compile: this graph has forgotten its oldest nodes, and only a whole one can be compiled; build "
      "another one",
      Error);
  CHECK(g.variable("b").value == 3);
  CHECK(g.factor("copy", {a, g.find_variable("b")}, {}, {.name = "f"}).value == 2);
  const VariableId taken = g.variable("v2");  // its holder gets another number
  CHECK(g.find_variable("v2") == taken);
  CHECK(g.find_variable(g[c].name.text()) == c);
}
