#include "engine/run/messages_at.h"

#include "tests/oracles/random_graphs.h"
#include "tests/oracles/solved.h"

namespace {

using Visits = std::map<std::pair<std::uint32_t, std::uint32_t>, int>;  // (element, slot) -> number of visits

// From the definition: every slot of every group, once, at the element that its map gives.
Visits expected(const PlanData& plan, const PlanData::Variable& variable) {
  Visits visits;
  for (const Group& group : plan.groups)
    for (const Group::Port& port : group.ports)
      for (std::uint32_t q = 0; q < group.slots * port.terms; ++q)
        if (const std::uint32_t i = port.elements(q) - variable.first_element; i < variable.size)
          ++visits[{i, port.first_slot + q}];
  return visits;
}

void check_walks(const Graph& graph) {
  for (const Scheduler& scheduler : {forward_backward(), flooding()}) {
    const Plan plan = compile(graph, scheduler, standard_registry(), {.fuse = false});
    for (const auto& variable : plan->variables) {
      CAPTURE(variable.name);
      const Visits truth = expected(*plan, variable);
      Visits by_end, by_element, all;
      for (const auto& end : variable.ends) {
        for_each_message(*plan, plan->incidence(), variable, end, [&](std::uint32_t i, std::uint32_t slot) {
          ++by_end[{i, slot}];
        });
        for (std::uint32_t i = 0; i < variable.size; ++i)
          for_each_message_at(*plan, plan->incidence(), variable, end, i, [&](std::uint32_t slot) {
            ++by_element[{i, slot}];
          });
      }
      for_each_message(*plan, plan->incidence(), variable, [&](std::uint32_t i, std::uint32_t slot) {
        ++all[{i, slot}];
      });
      CHECK(by_end == truth);
      CHECK(by_element == truth);
      CHECK(all == truth);
    }
  }
}

}  // namespace

TEST_CASE("messages_at: every message of a variable is met once, through every kind of index map") {
  Graph g;
  const auto w = g.variable("w", 3), x = g.variable("x", 4), p = g.variable("p", 12), total = g.variable("total");
  const auto bias = g.variable("bias"), y = g.variable("y", 12), table = g.variable("table", 12);
  for (const auto v : {w, x, bias}) g.factor("gaussian_prior", {v}, {{"mean", 1.0}, {"variance", 1.0}});
  g.factor("product", {row(w), column(x), p});
  g.factor("add", {p, all_to_one(bias), y});
  g.factor("gaussian_noise", {gather(x, {3, 0, 1, 1, 2, 3, 3, 0, 0, 2, 1, 2}), table}, {{"variance", 1.0}});
  g.factor("sum", {y, total});
  check_walks(g);
}

TEST_CASE("messages_at: every message of a variable is met once among merged scalar factors and terms") {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) check_walks(oracle::random_tree(seed, 40, 0.5).graph);
}
