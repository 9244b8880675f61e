// Spins on a square of 40 x 40, too wide for cliques: the log of their partition function lies between two numbers.
//
// Prints:
//   converged after 22 sweeps; beliefs approximate, log evidence between 1826.43 and 1943.85
//   for each spin 1.142 to 1.215
#include <dma.h>
#include <fmt/core.h>

int main() {
  using namespace dma;
  constexpr std::uint32_t kSide = 40;
  Graph g;
  const auto spin = g.variable("spin", kSide * kSide, "categorical(2)");
  std::vector<std::uint32_t> first, second;
  for (std::uint32_t i = 0; i < kSide * kSide; ++i)
    for (const std::uint32_t next : {i + 1, i + kSide})
      if (next == i + 1 ? next % kSide != 0 : next < kSide * kSide) {
        first.push_back(i);
        second.push_back(next);
      }
  g.factor("potential", {gather(spin, first), gather(spin, second)}, {{"weight", {1.5, 1, 1, 1.5}}});
  g.factor("potential", {spin}, {{"weight", {1.1, 1}}});

  const Plan plan = compile(g, tree_reweighted(), standard_registry());
  State state(plan);
  fmt::print("{}\n", run(plan, state));
  const EvidenceBounds bounds = evidence_bounds(state);
  constexpr double kSpins = kSide * kSide;
  fmt::print("for each spin {:.3f} to {:.3f}\n", bounds.lower / kSpins, bounds.upper / kSpins);
}
