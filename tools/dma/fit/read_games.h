// Games from a table.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/games/rating.h"
#include "tools/dma/fit/mixed_table.h"

namespace dma {

struct GamesTable {
  std::vector<std::string> players;  // in the order in which they appear
  std::vector<Game> games;
};

// A game per row, columns winner and loser, with "Ann + Ben" for teams and perhaps a column draw; or a player per row,
// columns game, player and rank, and perhaps team and share. The columns may stand anywhere, beside others.
GamesTable read_games(const TableSource& source);
// "Ann", or "Ann + Ben" where nobody is named so: their numbers. An Error that offers the nearest name if there is
// none.
std::vector<std::uint32_t> find_players(const GamesTable& table, const std::string& text);

}  // namespace dma
