// A program of somebody else: knows only the installed package and its headers.
#include <dma.h>
#include <dma_models.h>

#include <cmath>

int main() {
  using namespace dma;
  Graph g;
  const auto x = gaussian_prior(g, g.variable("x"), 1.0, 2.0), y = g.observed("y");
  gaussian_noise(g, x, 2.0, y);
  const Plan plan = compile(g, forward_backward(), standard_registry());
  State state(plan);
  state.observe(y, 3.0);
  run(plan, state);
  const Gaussian belief = state.belief(x)[0];
  const Process walk = random_walk(1.0);
  const bool is_right = std::abs(belief.mean() - 2.0) < 1e-12 && std::abs(belief.variance() - 1.0) < 1e-12;
  return is_right && version() == DMA_EXPECTED && walk.states.size() == 1 ? 0 : 1;
}
