#include "engine/graph/plate.h"

#include <doctest/doctest.h>

#include "engine/support/text.h"

using namespace dma;

namespace {

NodeName named(const std::string& name) { return {&name, 0}; }
const std::string kA = "a", kB = "b", kC = "c", kN = "n", kR = "r";

// The number of slots that row(r), column(c) and a plain variable of n elements agree on; size 0 omits one.
std::uint32_t slots(std::uint32_t r, std::uint32_t c, std::uint32_t n) {
  Graph g;
  const auto v = g.variable("v");
  const Graph::Factor factor = g[g.factor("product", {v})];
  PlateShape shape(factor);
  if (r > 0) shape.add(row(v), named(kR), r);
  if (c > 0) shape.add(column(v), named(kC), c);
  if (n > 0) shape.add(v, named(kN), n);
  return shape.slots();
}

}  // namespace

TEST_CASE("plate: rows x columns must be all its slots") {
  CHECK(slots(3, 4, 12) == 12);
  CHECK(slots(0, 2, 12) == 12);
  CHECK(slots(3, 0, 12) == 12);
  CHECK(slots(3, 4, 0) == 12);
  CHECK(slots(3, 0, 0) == 3);
  CHECK(slots(0, 0, 0) == 1);
  CHECK_THROWS_WITH_AS(
      slots(3, 2, 12),
      "factor 'product0' (product): row(r) x column(c) is a plate of 3 x 2 slots, but 'n' has 12 elements; "
      "use gather() for another shape",
      Error);
}

TEST_CASE("plate: it has one number of rows and one of columns") {
  Graph g;
  const auto v = g.variable("v");
  const Graph::Factor factor = g[g.factor("product", {v})];
  PlateShape rows(factor), columns(factor);
  rows.add(row(v), named(kA), 3);
  CHECK_THROWS_WITH_AS(
      rows.add(row(v), named(kB), 6),
      "factor 'product0' (product): row(a) has 3 elements but row(b) has 6; a plate has one number of rows, "
      "use gather() for another shape",
      Error);
  columns.add(column(v), named(kA), 3);
  columns.add(column(v), named(kB), 3);
  CHECK_THROWS_AS(columns.add(column(v), named(kC), 6), Error);
}

TEST_CASE("plate: rows x columns that 32 bits cannot count are an error") {
  CHECK_THROWS_WITH_AS(
      slots(1u << 20, 1u << 20, 0),
      "factor 'product0' (product): the slots of row(r) x column(c) number 1099511627776, more than the "
      "4294967294 a plan can count; make it smaller, or split the model",
      Error);
}
