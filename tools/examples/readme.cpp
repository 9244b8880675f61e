#include <dma.h>
#include <fmt/core.h>

int main() {
  using namespace dma;
  // Three parcels, each weighed on two scales; each scale has an unknown offset.
  Graph g;
  auto weight = gaussian_prior(g, g.variable("weight", 3), 4.0, 9.0);
  auto offset = gaussian_prior(g, g.variable("offset", 2), 0.0, 0.25);
  auto shown = g.variable("shown", 6), seen = g.observed("seen", 6);
  g.factor("sum", {gather(weight, {0, 1, 2, 0, 1, 2}), gather(offset, {0, 0, 0, 1, 1, 1}), shown});
  g.factor("gaussian_noise", {shown, seen}, {{"variance", 0.04}});

  Registry registry = standard_registry();
  for (Plan plan : {compile(g, flooding(), registry), compile(g, joint(), registry)}) {
    State state(plan);
    state.observe(seen, {2.1, 3.0, 5.2, 2.6, 3.4, 8.9});
    Report report = run(plan, state);
    fmt::print("{}\n  {}\n", report, state.belief(weight));
  }
}
