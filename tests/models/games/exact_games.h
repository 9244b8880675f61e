// Games solved by sums over fine grids: oracles of rating_test.cpp.
#pragma once

#include <vector>

#include "models/games/rating.h"

namespace dma::oracle {

// Half the width of the differences between two players that are draws.
double draw_window(const RatingOptions& options);

// The skills of the players of two teams after a game.
std::vector<Skill> after_two_teams(const std::vector<Skill>& skills, const Game& game, const RatingOptions& options);

// The skills of players after a game that they finished in this order; draws[i]: player i drew with the next one.
std::vector<Skill> after_chain(const std::vector<Skill>& skills, const std::vector<bool>& draws,
                               const RatingOptions& options);

}  // namespace dma::oracle
