// A season of games, two of them between teams and one a draw: skills, and who wins the next one.
//
// Prints:
//   converged
//   Ada   29.4 +- 5.5
//   Ben   16.2 +- 5.2
//   Cleo  31.6 +- 5.6
//   Dan   19.2 +- 5.4
//   Ada against Cleo: wins 0.35, draws 0.08
//   after every game: Ada 31.4
#include <dma_models.h>
#include <fmt/core.h>

int main() {
  using namespace dma;
  const std::vector<std::string> players{"Ada", "Ben", "Cleo", "Dan"};
  const std::vector<Game> games{
      {{{{0}, 1}, {{1}, 2}}},                 // Ada beats Ben
      {{{{2}, 1}, {{3}, 2}, {{1}, 3}}},       // Cleo before Dan before Ben
      {{{{0, 3}, 2}, {{1, 2}, 1}}},           // Ben and Cleo beat Ada and Dan
      {{{{0}, 1}, {{2}, 1}}},                 // a draw
      {{{{0}, 1}, {{1, 3}, 2, {1.0, 0.5}}}},  // Ada beats two, one of whom left at half-time
  };
  const Season season = rate_season(games, players.size());
  fmt::print("{}\n", season.report.converged() ? "converged" : season.report.line());
  for (std::size_t i = 0; i < players.size(); ++i)
    fmt::print("{:<5} {:.1f} +- {:.1f}\n", players[i], season.skills[i].mean, season.skills[i].sd);

  const std::uint32_t ada[] = {0}, cleo[] = {2};
  const Chances next = chances(season, ada, cleo);
  fmt::print("Ada against Cleo: wins {:.2f}, draws {:.2f}\n", next.win, next.draw);

  Rating rating(players.size());  // one game after the other
  for (const Game& game : games) rating.play(game);
  fmt::print("after every game: Ada {:.1f}\n", rating.skills()[0].mean);
}
