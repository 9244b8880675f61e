// The skills of the players of a table, as text, a table, JSON and a picture.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/support/json.h"
#include "tools/dma/fit/read_games.h"
#include "tools/dma/pictures/figure.h"

namespace dma {

// The skills of a table's players, whatever way they were found: the most skilled first, with central 95 % intervals.
struct RatedPlayer {
  std::string name;
  std::uint32_t number = 0;  // in the table
  Skill skill = {};
  double low = 0, high = 0;
  std::size_t games = 0;
};
struct RatedPlayers {
  std::vector<RatedPlayer> players;
  std::vector<SkillThen> history;  // in the order of games
};

using Players = std::vector<std::uint32_t>;

struct Rated {
  RatedPlayers players;
  std::string how, status;
  bool settled = true;
  std::function<Chances(const Players&, const Players&)> chances;
};

Rated rate_all_at_once(const GamesTable& table, const RatingOptions& options);
Rated rate_one_by_one(const GamesTable& table, const RatingOptions& options);

std::string skills_text(const RatedPlayers& rated, std::size_t most);
// Each of the first players against each other.
std::string chances_text(const Rated& rated, std::size_t most);
std::string skills_csv(const RatedPlayers& rated);
Json skills_json(const RatedPlayers& rated);
// The skills of the first players, game after game.
plot::Figure skills_figure(const RatedPlayers& rated, std::size_t most);

}  // namespace dma
