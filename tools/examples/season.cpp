// A season is learned with the graph of one game: the players are a table given with every game (given), like the
// points. Skills are shared by all games.
//
// Prints:
//   2 epochs
//   Ants   5.49 +- 1.98
//   Bees   1.23 +- 1.98
//   Cats  -3.19 +- 1.98
//   Dogs  -3.53 +- 1.98
//   Bees against Cats: 4.4 +- 4.1
#include <dma.h>
#include <fmt/core.h>

#include <cmath>

int main() {
  using namespace dma;
  const std::vector<std::string> teams{"Ants", "Bees", "Cats", "Dogs"};
  // The first team's points minus the second's.
  const std::vector<std::uint32_t> players{0, 1, 2, 3, 0, 2, 1, 3, 0, 3, 1, 2, 3, 2, 1, 0};
  const std::vector<double> points{7, -3, 4, 9, 13, 1, 5, -4};

  Graph g;
  const auto skill = gaussian_prior(g, g.shared("skill", teams.size()), 0.0, 100.0);
  const auto lead = g.variable("lead"), seen = g.observed("points");
  const auto game = g.factor("sum", {given(skill, 2), lead}, {{"coefficients", std::vector<double>{1, -1}}});
  g.factor("gaussian_noise", {lead, seen}, {{"variance", 9.0}});

  Learner learner(g, standard_registry(), forward_backward(), forward(), {.targets = {seen}, .batches = points.size()});
  Data season{{seen, points}};
  season.tables.push_back({game, "terms", players});
  const LearnReport report = learner.fit(season);
  fmt::print("{} epochs\n", report.epochs.size());
  const Belief belief = learner.belief(skill);
  for (std::size_t i = 0; i < teams.size(); ++i)
    fmt::print("{:<5} {:5.2f} +- {:.2f}\n", teams[i], belief.mean(i), std::sqrt(belief.variance(i)));

  const std::vector<std::uint32_t> next{1, 2};
  const std::vector<double> unknown{0};  // ignored: it is predicted
  Data game_to_come{{seen, unknown}};
  game_to_come.tables.push_back({game, "terms", next});
  std::vector<double> mean(1), variance(1);
  learner.predict(game_to_come, mean, variance);
  fmt::print("Bees against Cats: {:.1f} +- {:.1f}\n", mean[0], std::sqrt(variance[0]));
}
