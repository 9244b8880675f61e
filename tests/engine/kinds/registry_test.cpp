#include "engine/kinds/registry.h"

#include <doctest/doctest.h>

#include "engine/support/text.h"
#include "factors/standard_registry.h"

namespace {

using namespace dma;

Gaussian pass(const Gaussian& x) { return x; }
Gaussian first(const Gaussian& x, const Gaussian&) { return x; }

}  // namespace

TEST_CASE("domain: contains exactly the values of its description") {
  const Domain slope = Domain{} & above(0) & at_most(1);
  CHECK(describe(slope) == "(0, 1]");
  CHECK(!slope.contains(0));
  CHECK(slope.contains(1e-300));
  CHECK(slope.contains(1));
  CHECK(!slope.contains(1.0000001));
  CHECK(!slope.contains(std::numeric_limits<double>::quiet_NaN()));
  CHECK(describe(Domain{} & at_least(0) & finite()) == "[0, inf)");
  CHECK(!(Domain{} & at_least(0) & finite()).contains(kInfinity));
  CHECK((Domain{} & at_least(0)).contains(kInfinity));
  CHECK(describe(one_of({-1, 1})) == "one of -1, 1");
  CHECK(!one_of({-1, 1}).contains(0));
  CHECK(describe(Domain{} & at_least(1) & above(1)) == "(1, inf]");
}

TEST_CASE("kind: a message function must fit its ports and parameters") {
  CHECK_THROWS_WITH_AS(kind("k").input("x").output("y").message("dma", "z", pass),
                       "kind 'k' has no port 'z'; known: x, y", Error);
  CHECK_THROWS_WITH_AS(
      kind("k").input("x").output("y").message("dma", "y", first),
      "kind 'k', message to 'y': the function reads 2 messages but 1 ports are to be read; name them with from(...)",
      Error);
  CHECK_THROWS_WITH_AS(kind("k").input("x").output("y").message("dma", "y", pass).message("dma", "y", pass),
                       "kind 'k': two 'dma' messages to port 'y'", Error);
  struct Two {
    double a, b;
  };
  CHECK_THROWS_WITH_AS(kind("k")
                           .input("x")
                           .output("y")
                           .parameter("a", finite())
                           .message("dma", "y", [](const Gaussian& x, Two) { return x; }),
                       "kind 'k', message to 'y': its Parameters hold 2 numbers but the kind declares 1 parameters",
                       Error);
}

TEST_CASE("registry: is a value; a user's additions stay in the user's copy") {
  Registry mine = standard_registry();
  mine.add(kind("mine").input("x").output("y").message("dma", "y", pass).message("dma", "x", pass));
  CHECK(mine.contains("mine"));
  CHECK(!standard_registry().contains("mine"));
  CHECK_THROWS_WITH_AS(mine.add(kind("mine")),
                       "a factor kind 'mine' is registered already; use extend(\"mine\") to add messages to it", Error);
  mine.extend("mine").message("other", "y", pass);
  CHECK(mine.kind("mine").methods() == std::vector<std::string>{"dma", "other"});
  CHECK_THROWS_AS(mine.kind("nine"), Error);
}

TEST_CASE(
    "registry: copies share what they list until one of them is changed, and never a kind that is being extended") {
  Registry mine = standard_registry();
  const Registry copy = mine;
  CHECK(&copy.kind("sum") == &mine.kind("sum"));
  mine.add(kind("mine").input("x").output("y").message("dma", "y", pass).message("dma", "x", pass));
  CHECK(!copy.contains("mine"));
  CHECK(&copy.kind("sum") != &mine.kind("sum"));
  Kind& open = mine.extend("mine");
  Registry later = mine;
  open.message("other", "y", pass);
  CHECK(mine.kind("mine").methods() == std::vector<std::string>{"dma", "other"});
  CHECK(later.kind("mine").methods() == std::vector<std::string>{"dma"});
  const Registry shared = later;
  CHECK(&shared.kind("mine") == &later.kind("mine"));
  later = mine;
  CHECK(later.kind("mine").methods() == std::vector<std::string>{"dma", "other"});
  CHECK(shared.kind("mine").methods() == std::vector<std::string>{"dma"});
}

TEST_CASE("registry: its table has a row for every kind with ports, parameters and methods") {
  const Registry registry = standard_registry();
  const std::string table = describe(registry);
  for (const auto& [name, kind] : registry.kinds()) {
    CHECK(table.find("\n" + name + " ") != std::string::npos);
    for (const auto& port : kind.ports()) CHECK(describe(kind).find(port.name) != std::string::npos);
    for (const auto& parameter : kind.parameters()) CHECK(describe(kind).find(parameter.name) != std::string::npos);
    for (const auto& method : kind.methods()) CHECK(describe(kind).find(method) != std::string::npos);
  }
}
