// The smallest program: one unknown, five readings. Exact, with its evidence.
//
// Prints:
//   exact after 1 sweep: 5 messages, no faults
//   m ~ N(1.038, 0.4468^2)
//   log evidence -7.84439, exact
#include <dma.h>
#include <fmt/core.h>

int main() {
  using namespace dma;
  Graph g;
  const auto m = gaussian_prior(g, g.variable("m"), 0.0, 100.0), y = g.observed("y", 5);
  gaussian_noise(g, all_to_one(m), 1.0, y);
  const Plan plan = compile(g, forward_backward(), standard_registry());
  State state(plan);
  state.observe(y, {0.9, 1.4, 0.7, 1.1, 1.1});
  const Report report = run(plan, state);
  fmt::print("{}\n{}\n{}\n", report, state.belief(m), evidence(plan, state));
}
