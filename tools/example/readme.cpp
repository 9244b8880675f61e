#include <fmt/core.h>

#include <filesystem>
#include <fstream>

#include "engine/compile/compile.h"
#include "engine/inspect/dot.h"
#include "engine/run/run.h"
#include "factors/standard_registry.h"
#include "schedules/forward_backward.h"

int main() {
  using namespace dma;
  Graph g;
  auto w = g.variable("w", 3), x = g.observed("x", 3), p = g.variable("p", 3), z = g.variable("z"), y = g.observed("y");
  g.factor("gaussian_prior", {w}, {{"mean", 0.0}, {"variance", 1.0}});
  g.factor("product", {w, x, p});
  g.factor("sum", {p, z});
  g.factor("gaussian_noise", {z, y}, {{"variance", 0.04}});
  Plan plan = compile(g, forward_backward(), standard_registry());
  State state(plan);
  state.observe(x, {1.0, 2.0, 0.5});
  state.observe(y, 1.3);
  Report report = run(plan, state);
  fmt::print("{}\n{}\n", report, state.belief(w));

  std::filesystem::create_directories("out");
  std::ofstream("out/graph.dot") << to_dot(g, standard_registry());
}
