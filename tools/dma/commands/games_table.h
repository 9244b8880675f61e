// The skills of players as a table, JSON and a picture.
#pragma once

#include <string>
#include <vector>

#include "engine/support/json.h"
#include "tools/dma/fit/read_games.h"
#include "tools/dma/pictures/figure.h"

namespace dma {

// The skills of a table's players, whatever way they were found.
struct RatedPlayers {
  std::vector<Skill> skills;         // by player
  std::vector<SkillThen> history;    // in the order of games
  std::vector<std::size_t> played;   // games, by player
  std::vector<std::uint32_t> order;  // players, the most skilled first
};
RatedPlayers rated_players(const GamesTable& table, std::vector<Skill> skills, std::vector<SkillThen> history);

std::string skills_csv(const GamesTable& table, const RatedPlayers& rated);
Json skills_json(const GamesTable& table, const RatedPlayers& rated);
// The skills of the first players, game after game.
plot::Figure skills_figure(const GamesTable& table, const RatedPlayers& rated, std::size_t most);

// The central 95 % interval.
struct SkillInterval {
  double low = 0, high = 0;
};
SkillInterval interval_of(const Skill& skill);

}  // namespace dma
