// Every schedule is a readable list of visits.
#include <doctest/doctest.h>

#include "engine/compile/compile.h"
#include "engine/compile/plan_data.h"
#include "factors/standard_registry.h"
#include "schedules/schedules.h"

namespace {

using namespace dma;

// w -> times <- x, times -> p -> noise -> y (x and y observed), or with a loop: p = (w0 w1, w1 w0).
std::string text_of(const Scheduler& rule, bool loop = false) {
  Graph g;
  const std::size_t size = loop ? 2 : 1;
  const auto w = g.variable("w", size), p = g.variable("p", size), y = g.observed("y", size);
  g.factor("gaussian_prior", {w}, {{"mean", 0.0}, {"variance", 1.0}}, {.name = "prior"});
  if (loop)
    g.factor("product", {w, gather(w, {1, 0}), p}, {}, {.name = "times"});
  else
    g.factor("product", {w, g.observed("x"), p}, {}, {.name = "times"});
  g.factor("gaussian_noise", {p, y}, {{"variance", 1.0}}, {.name = "noise"});
  return compile(g, rule, standard_registry()).schedule_text();
}

}  // namespace

TEST_CASE("schedules: forward_backward on a tree sends each message once, after all it reads") {
  CHECK(text_of(forward_backward()) ==
        "forward_backward: 4 visits\n"
        "  prior: refresh -; send x\n"
        "  times: refresh x, y; send z\n"
        "  noise: refresh y; send x\n"
        "  times: refresh y, z; send x\n");
}

TEST_CASE("schedules: forward_backward with loops goes forward to outputs, then backward to inputs") {
  CHECK(
      text_of(forward_backward(), true) ==
      "forward_backward: 6 visits; one sweep of a graph with loops: approximate; iterate with flooding, sequential or "
      "residual\n"
      "  prior: refresh -; send x\n"
      "  times: refresh x, y; send z\n"
      "  noise: refresh x; send -\n"
      "  noise: refresh y; send x\n"
      "  times: refresh z; send x, y\n"
      "  prior: refresh x; send -\n");
}

TEST_CASE("schedules: forward is the forward half") {
  CHECK(text_of(forward(), true) ==
        "forward: 3 visits; one sweep forward: approximate; observations downstream do not count\n"
        "  prior: refresh -; send x\n"
        "  times: refresh x, y; send z\n"
        "  noise: refresh x; send -\n");
}

TEST_CASE("schedules: sequential repeats both halves with its tolerance, limit and damping") {
  CHECK(text_of(sequential({.tolerance = 1e-6, .limit = 20, .damping = 0.5})) ==
        "sequential: 6 visits, repeated up to 20 times to tolerance 1e-06, damping 0.5\n"
        "  prior: refresh -; send x\n"
        "  times: refresh x, y; send z\n"
        "  noise: refresh x; send -\n"
        "  noise: refresh y; send x\n"
        "  times: refresh z; send x\n"
        "  prior: refresh x; send -\n");
}

TEST_CASE("schedules: sequential goes back the way it came, also around a cycle of the data flow") {
  Graph g;
  const auto a = g.variable("a"), b = g.variable("b"), c = g.variable("c");
  for (const auto& [from, to] : {std::pair{a, b}, std::pair{b, c}, std::pair{c, a}})
    g.factor("gaussian_noise", {from, to}, {{"variance", 1.0}});
  const Plan plan = compile(g, sequential(), standard_registry());
  std::vector<std::uint32_t> order;
  for (const Visit& visit : plan->schedule.visits) order.push_back(visit.factor);
  CHECK(order == std::vector<std::uint32_t>{0, 1, 2, 2, 1, 0});
}

TEST_CASE("schedules: flooding refreshes everything before it sends anything") {
  CHECK(text_of(flooding()) ==
        "flooding: 6 visits, repeated up to 1000 times to tolerance 1e-10, damping 0\n"
        "  prior: refresh -; send -\n"
        "  times: refresh x, y, z; send -\n"
        "  noise: refresh y; send -\n"
        "  prior: refresh -; send x\n"
        "  times: refresh -; send x, z\n"
        "  noise: refresh -; send x\n");
}

TEST_CASE("schedules: residual has one visit per factor that refreshes and sends everything") {
  CHECK(text_of(residual()) ==
        "residual: 3 visits, repeated up to 1000 times to tolerance 1e-10, damping 0\n"
        "  prior: refresh -; send x\n"
        "  times: refresh x, y, z; send x, z\n"
        "  noise: refresh y; send x\n");
}

TEST_CASE("schedules: a plan prints its operations") {
  Graph g;
  const auto w = g.variable("w", 4), x = g.observed("x", 4), p = g.variable("p", 4), z = g.variable("z", 2);
  g.factor("gaussian_prior", {w}, {{"mean", 0.0}, {"variance", 1.0}}, {.name = "prior"});
  g.factor("product", {w, x, p}, {}, {.name = "times"});
  g.factor("sum", {p, z}, {}, {.name = "plus"});
  const std::string text = describe(compile(g, forward_backward(), standard_registry()));
  CHECK(text.starts_with("plan: 4 variables, 2 factors in 2 groups, "));
  CHECK(text.find("once:\n  send      prior -> x from (), 4 slots, exact\n") != std::string::npos);
  CHECK(text.find("  send      times+plus -> total from (x, y), 2 slots, dma\n") != std::string::npos);
}
