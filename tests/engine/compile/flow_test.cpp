#include "engine/compile/schedule.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "engine/compile/resolve.h"
#include "engine/support/text.h"
#include "factors/standard_registry.h"
#include "tests/oracles/random_graphs.h"

namespace {

using namespace dma;

struct Flowing {
  explicit Flowing(const Graph& graph) : resolved(resolve(graph, registry, {})), flow(resolved) {}
  Registry registry = standard_registry();
  Resolved resolved;
  Flow flow;
};

void add_noise(Graph& g, VariableId from, VariableId to, const char* name = "") {
  g.factor("gaussian_noise", {from, to}, {{"variance", 1.0}}, {.name = name});
}

}  // namespace

TEST_CASE("flow: levels put every factor after all that feed it") {
  const Graph graph = oracle::random_tree(31, 120).graph;
  const Flowing f(graph);
  std::vector<std::size_t> level(f.flow.factors());
  const auto levels = f.flow.levels();
  std::size_t count = 0;
  for (std::size_t l = 0; l < levels.size(); ++l)
    for (const std::uint32_t factor : levels[l]) level[factor] = l, ++count;
  CHECK(count == f.flow.factors());
  for (std::size_t a = 0; a < count; ++a)
    for (std::size_t b = 0; b < count; ++b)
      for (std::size_t p = 0; p < f.resolved.factors[a].ports.size(); ++p)
        for (std::size_t q = 0; q < f.resolved.factors[b].ports.size(); ++q)
          if (f.resolved.factors[a].kind->ports()[p].output && !f.resolved.factors[b].kind->ports()[q].output)
            for (const VariableId v : f.resolved.factors[a].ports[p].variables)
              for (const VariableId u : f.resolved.factors[b].ports[q].variables)
                if (u == v) CHECK(level[a] < level[b]);
}

TEST_CASE("flow: a directed cycle is named, factor by factor") {
  Graph g;
  const auto a = g.variable("a"), b = g.variable("b"), c = g.variable("c"), outside = g.variable("outside");
  add_noise(g, outside, a, "in");
  add_noise(g, a, b, "ab");
  add_noise(g, b, c, "bc");
  add_noise(g, c, a, "ca");
  const Flowing f(g);
  CHECK(!f.flow.is_acyclic());
  CHECK_THROWS_WITH_AS(f.flow.levels(),
                       "the data flow has a cycle: a -> ab -> b -> bc -> c -> ca -> a; forward_backward needs "
                       "none, use flooding, sequential or residual",
                       Error);
}

TEST_CASE("flow: exact_order exists on trees and sends every message after all it depends on") {
  for (std::uint64_t seed = 40; seed < 60; ++seed) {
    const Graph graph = oracle::random_tree(seed, 60).graph;
    const Flowing f(graph);
    const auto order = f.flow.exact_order();
    REQUIRE(order.has_value());
    std::set<std::pair<std::uint32_t, std::uint32_t>> last;
    for (const auto& m : order->messages) last.insert({m.factor, m.port});
    std::size_t targets = 0;
    for (std::size_t i = 0; i < f.flow.factors(); ++i) targets += f.flow.targets(i).size();
    CHECK(last.size() == targets);
    CHECK(order->messages.size() <= 2 * targets);  // a message to a variadic port may be needed twice
  }
}

TEST_CASE("flow: exact_order is linear on a chain where messages to variadic ports meet") {
  // Without the early message of copy.copies, it and sum.terms would wait for each other at every second variable.
  Graph g;
  VariableId x = g.variable("");
  g.factor("gaussian_prior", {x}, {{"mean", 0.0}, {"variance", 1.0}});
  for (int i = 0; i < 20'000; ++i) {
    const auto y = g.variable(""), e = g.variable(""), z = g.variable("");
    g.factor("copy", {x, y});
    g.factor("gaussian_prior", {e}, {{"mean", 0.0}, {"variance", 1.0}});
    g.factor("sum", {y, e, z});
    x = z;
  }
  const Flowing f(g);
  CHECK(f.flow.exact_order().has_value());
}

TEST_CASE("flow: exact_order does not exist on loops, unless an observed variable cuts them") {
  for (const bool observed : {false, true}) {
    Graph g;
    const auto a = observed ? g.observed("a") : g.variable("a");
    const auto b = g.variable("b"), c = g.variable("c"), d = g.variable("d");
    add_noise(g, a, b);
    add_noise(g, a, c);
    g.factor("sum", {b, c, d});
    CHECK(Flowing(g).flow.exact_order().has_value() == observed);
  }
  CHECK(!Flowing(oracle::ring(1, 5, 0.5).graph).flow.exact_order());
}

TEST_CASE("port set: it equals a set of ports under all operations") {
  for (unsigned a = 0; a < 256; a += 3)
    for (unsigned b = 0; b < 256; b += 5) {
      PortSet first, second;
      std::set<std::uint32_t> in_first, in_second;
      for (std::uint32_t bit = 0; bit < kMaxPorts / 2; ++bit) {
        const std::uint32_t port = 2 * bit + bit % 2;  // some ports of all
        if ((a >> bit & 1) != 0) first.add(port), in_first.insert(port);
        if ((b >> bit & 1) != 0) second.add(port), in_second.insert(port);
      }
      std::set<std::uint32_t> either, both, rest;
      std::ranges::set_union(in_first, in_second, std::inserter(either, either.end()));
      std::ranges::set_intersection(in_first, in_second, std::inserter(both, both.end()));
      std::ranges::set_difference(in_first, in_second, std::inserter(rest, rest.end()));
      const auto holds = [](PortSet ports, const std::set<std::uint32_t>& expected) {
        std::vector<std::uint32_t> listed;
        for (const std::uint32_t port : ports) listed.push_back(port);
        return std::ranges::equal(listed, expected) && ports.size() == expected.size() &&
               ports.empty() == expected.empty() && (expected.empty() || ports.first() == *expected.begin()) &&
               std::ranges::all_of(expected, [&](std::uint32_t port) { return ports.has(port); });
      };
      REQUIRE(holds(first, in_first));
      REQUIRE(holds(first | second, either));
      REQUIRE(holds(first & second, both));
      REQUIRE(holds(first - second, rest));
      REQUIRE((first == second) == (in_first == in_second));
    }
}
