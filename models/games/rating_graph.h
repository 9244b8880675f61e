// The graph of some games; see rating.h, which solves it.
#pragma once

#include <span>
#include <vector>

#include "engine/compile/schedule.h"
#include "engine/graph/graph.h"
#include "models/games/rating.h"

namespace dma {

// An Error unless these numbers can be options of a rating, or skills.
void check_rating_options(const RatingOptions& options);
void check_skills(std::span<const Skill> skills);
// An Error unless it is a game of that many players. `number` counts from 1.
void check_game(const Game& game, std::size_t number, std::size_t players, const RatingOptions& options);

// An Error unless all have a time, none before the one before it, or none has. `number` is that of the first.
void check_times(std::span<const Game> games, std::size_t number = 1);

// Of a player's performances around the skill.
double performance_variance(const Skill& skill, const RatingOptions& options);

// Half the width of the window of differences that end in a draw, if performances have together this variance.
double draw_margin(double variance, const RatingOptions& options);

// Sweeps over a RatingGraph, in which the drift of skills is walked along, game after game, up and down.
Scheduler season_sweeps(Iteration iteration);

struct RatingGraph {
  // Of games that were checked.
  RatingGraph(std::span<const Game> games, std::size_t players, const RatingOptions& options);

  struct Appearance {
    std::size_t game;
    std::uint32_t player;
    std::uint32_t skill, performance;  // their elements
  };
  Graph graph;
  // One element for each player, or one for each of their games if skills drift: player after player, game after game.
  VariableId skill{};
  FactorId prior{};
  std::vector<Appearance> appearances;  // game after game, team after team

 private:
  void add_skills(std::span<const Game> games, std::size_t players, const RatingOptions& options);
  void add_teams(std::span<const Game> games);
  void add_results(std::span<const Game> games, const RatingOptions& options);

  // Where a team's performance is: that of its one player, or a sum.
  struct Performance {
    bool is_sum;
    std::uint32_t element;
  };
  VariableId performance_{}, sums_{};
  std::vector<Performance> teams_;  // game after game
};

}  // namespace dma
