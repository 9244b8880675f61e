#include <dma.h>
#include <fmt/core.h>

#include <filesystem>
#include <fstream>

int main() {
  using namespace dma;
  Graph g;
  auto w = gaussian_prior(g, g.variable("w", 3), 0.0, 1.0), x = g.observed("x", 3), y = g.observed("y");
  auto z = sum(g, product(g, w, x));
  gaussian_noise(g, z, 0.04, y);
  Plan plan = compile(g, forward_backward(), standard_registry());
  State state(plan);
  state.observe(x, {1.0, 2.0, 0.5});
  state.observe(y, 1.3);
  Report report = run(plan, state);
  fmt::print("{}\n{}\n", report, state.belief(w));

  std::filesystem::create_directories("out");
  std::ofstream("out/graph.dot") << to_dot(g, standard_registry());
}
