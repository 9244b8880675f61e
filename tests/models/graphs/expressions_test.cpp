// Expressions build the graph that the explicit form builds; the public header suffices.
#include <dma.h>
#include <doctest/doctest.h>

using namespace dma;

TEST_CASE("expressions: variables and factors are those of the explicit form") {
  Graph g, h;
  {
    const auto w = gaussian_prior(g, g.shared("w", 6), 0.0, 1.0), x = g.observed("x", 3), y = g.observed("y", 2);
    const auto z = matrix_product(g, w, x, "z");
    const auto a = leaky_relu(g, z, 0.1, "a");
    gaussian_noise(g, a, 0.04, y);
  }
  {
    const auto w = h.shared("w", 6), x = h.observed("x", 3), y = h.observed("y", 2), p = h.variable("", 6),
               z = h.variable("z", 2), a = h.variable("a", 2);
    h.factor("gaussian_prior", {w}, {{"mean", 0.0}, {"variance", 1.0}});
    h.factor("product", {w, column(x), p});
    h.factor("sum", {p, z});
    h.factor("leaky_relu", {z, a}, {{"slope", 0.1}});
    h.factor("gaussian_noise", {a, y}, {{"variance", 0.04}});
  }
  CHECK(describe(g) == describe(h));
  CHECK_NOTHROW(compile(g, forward_backward(), standard_registry()));
}

TEST_CASE("expressions: sizes follow from the arguments") {
  Graph g;
  const auto a = g.variable("a", 3), b = g.variable("b", 4), c = g.variable("c", 12),
             l = g.variable("l", 2, "log_normal");
  CHECK(g[product(g, row(a), column(b))].size == 12);
  CHECK(g[product(g, row(a), c)].size == 12);
  CHECK(g[add(g, a, a)].size == 3);
  CHECK(g[square(g, gather(b, {0, 1}))].size == 2);
  CHECK(g[sum(g, c)].size == 1);
  CHECK(g[sum_rows(g, c, 3)].size == 3);
  CHECK(g[sum(g, l)].family == "log_normal");
  CHECK(g[apply(g, "softplus", {b}, {}, "s")].name == "s");
}

TEST_CASE("expressions: sizes that do not fit are refused in the words of the factor they would make") {
  Graph g;
  const auto a = g.variable("a", 3), b = g.variable("b", 4), none = VariableId{9};
  CHECK_THROWS_WITH_AS(
      product(g, a, b),
      "factor 'product0' (product): plate sizes do not fit: 'a' has 3 elements but 'b' has 4; wrap one in "
      "row(), column(), all_to_one() or gather(), or give both the same size",
      Error);
  CHECK_THROWS_WITH_AS(sum_rows(g, b, 3), "sum_rows: 'b' has 4 elements, which make no 3 rows", Error);
  CHECK_THROWS_WITH_AS(matrix_product(g, b, a), "matrix_product: 'b' has 4 elements, which make no rows of 3 for 'a'",
                       Error);
  CHECK_THROWS_WITH_AS(square(g, none), "variable 9 is not of this graph, which has 2", Error);
  CHECK_THROWS_AS(apply(g, "gaussian_prior", {}), Error);
  CHECK(g.factors().empty());
}
