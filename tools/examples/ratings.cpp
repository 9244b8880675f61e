// Skills from games, draws included: a performance is a skill plus noise, and a lead of more than a margin wins. One
// plate of wins, one of draws; all skills are solved jointly, so the last line can compare two of them.
//
// Prints:
//   converged
//   Ada    1.28 +- 1.24
//   Ben   -0.76 +- 1.23
//   Cleo   1.28 +- 1.24
//   Dan   -1.81 +- 1.26
//   Ada is better than Ben with probability 0.94
#include <dma.h>
#include <fmt/core.h>

#include <Eigen/Core>
#include <cmath>

int main() {
  using namespace dma;
  const std::vector<std::string> players{"Ada", "Ben", "Cleo", "Dan"};
  const std::vector<std::uint32_t> winners{0, 0, 2, 0, 1, 2, 2, 1}, losers{1, 3, 1, 2, 3, 3, 0, 3};
  const std::vector<std::uint32_t> first{0, 1}, second{2, 3};  // draws
  constexpr double kMargin = 0.3, kNoise = 1;

  Graph g;
  const auto skill = gaussian_prior(g, g.variable("skill", players.size()), 0.0, 4.0);
  // The difference of two performances, per game.
  const auto lead = [&](const std::vector<std::uint32_t>& a, const std::vector<std::uint32_t>& b) {
    const auto difference = g.variable("", a.size());
    std::vector<std::uint32_t> pairs;
    for (std::size_t i = 0; i < a.size(); ++i) {
      pairs.push_back(a[i]);
      pairs.push_back(b[i]);
    }
    g.factor("sum", {gather(skill, pairs), difference}, {{"coefficients", std::vector<double>{1, -1}}});
    return gaussian_noise(g, difference, 2 * kNoise);
  };
  g.factor("greater_than", {lead(winners, losers)}, {{"threshold", kMargin}});
  g.factor("within", {lead(first, second)}, {{"margin", kMargin}});

  const Plan plan = compile(g, joint(), standard_registry());
  State state(plan);
  const Report report = run(plan, state);
  fmt::print("{}\n", report.converged() ? "converged" : report.line());
  for (std::size_t i = 0; i < players.size(); ++i)
    fmt::print("{:<5} {:5.2f} +- {:.2f}\n", players[i], state.belief(skill).mean(i),
               std::sqrt(state.belief(skill).variance(i)));
  const auto c = JointPosterior(state).covariance(skill, skill);
  const double ahead = state.belief(skill).mean(0) - state.belief(skill).mean(1),
               spread = c(0, 0) + c(1, 1) - 2 * c(0, 1);
  fmt::print("Ada is better than Ben with probability {:.2f}\n", 0.5 * std::erfc(-ahead / std::sqrt(2 * spread)));
}
