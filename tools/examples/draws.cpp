// A number known only by its square: either sign is possible, and no Gaussian fits that. The joint solver's check
// reports it, and Hamiltonian Monte Carlo on the graph's own density draws from both modes.
//
// Prints:
//   converged; does the Gaussian fit? no
//   the Gaussian: 1.01 +- 0.26
//   the draws have settled: yes; 0.9 or -0.8, above 0 with probability 0.7
#include <dma.h>
#include <fmt/core.h>

#include <cmath>

int main() {
  using namespace dma;
  Graph g;
  const auto x = gaussian_prior(g, g.variable("x"), 0.5, 1.0);
  const auto seen = g.observed("seen");
  gaussian_noise(g, square(g, x), 0.3, seen);

  const Plan plan = compile(g, joint(), standard_registry());
  State state(plan);
  state.observe(seen, 1.1);
  const Report report = run(plan, state);
  const bool fits = report.joint->fit && report.joint->fit->is_good();
  fmt::print("{}; does the Gaussian fit? {}\n", report.converged() ? "converged" : "stopped", fits ? "yes" : "no");
  fmt::print("the Gaussian: {:.2f} +- {:.2f}\n", state.belief(x).mean(), state.belief(x).sd());

  const JointDraws chains = draw_posterior(state, {.chains = 4, .draws = 5000});
  double above = 0, size_above = 0, size_below = 0;
  for (std::size_t d = 0; d < chains.size(); ++d) {
    const double drawn = chains(d, x);
    above += drawn > 0;
    (drawn > 0 ? size_above : size_below) += drawn;
  }
  const auto draws = static_cast<double>(chains.size());
  fmt::print("the draws have settled: {}; {:.1f} or {:.1f}, above 0 with probability {:.1f}\n",
             chains.have_settled() ? "yes" : "no", size_above / above, size_below / (draws - above), above / draws);
}
