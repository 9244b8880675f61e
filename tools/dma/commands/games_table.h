// Games from a table, and what was found of the players as a table, JSON and a picture.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/support/json.h"
#include "models/games/rating.h"
#include "tools/dma/pictures/figure.h"

namespace dma {

struct GamesTable {
  std::vector<std::string> players;  // in the order in which they appear
  std::vector<Game> games;
};

// A game a row, columns winner and loser, with "Ann + Ben" for teams and perhaps a column draw; or a player a row,
// columns game, player and rank, and perhaps team and share. The columns may stand anywhere, beside others.
GamesTable read_games(const std::filesystem::path& file);
// "Ann", or "Ann + Ben" where nobody is named so: their numbers. An Error that offers the nearest name if there is
// none.
std::vector<std::uint32_t> find_players(const GamesTable& table, const std::string& text);

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
