// The graph of a set of games; rating.h solves it.
#pragma once

#include <span>
#include <vector>

#include "engine/compile/schedule.h"
#include "engine/graph/graph.h"
#include "models/games/rating.h"

namespace dma {

// Throws an Error for invalid options or skills.
void check_rating_options(const RatingOptions& options);
void check_skills(std::span<const Skill> skills);
// Throws an Error unless the game is valid for that many players. `number` counts from 1.
void check_game(const Game& game, std::size_t number, std::size_t players, const RatingOptions& options);

// Throws an Error unless all games have a time, in ascending order, or none has. `number` is that of the first.
void check_times(std::span<const Game> games, std::size_t number = 1);

// Variance of a player's performances around the skill.
double performance_variance(const Skill& skill, const RatingOptions& options);

// Half the width of the window of differences that are draws, if the performances together have this variance.
double draw_margin(double variance, const RatingOptions& options);

// Sweeps over a RatingGraph that follow the drift of skills game by game, forwards and backwards.
Scheduler season_sweeps(Iteration iteration);

struct RatingGraph {
  // The games must have been checked.
  RatingGraph(std::span<const Game> games, std::size_t players, const RatingOptions& options);

  struct Appearance {
    std::size_t game;
    std::uint32_t player;
    std::uint32_t skill, performance;  // element indices
  };
  Graph graph;
  // One element per player, or one per player and game if skills drift: player by player, game by game.
  VariableId skill{};
  FactorId prior{};
  std::vector<Appearance> appearances;  // game by game, team by team

 private:
  void add_skills(std::span<const Game> games, std::size_t players, const RatingOptions& options);
  void add_teams(std::span<const Game> games);
  void add_results(std::span<const Game> games, const RatingOptions& options);

  // Location of a team's performance: that of its only player, or a sum.
  struct Performance {
    bool is_sum;
    std::uint32_t element;
  };
  VariableId performance_{}, sums_{};
  std::vector<Performance> teams_;  // game by game
};

}  // namespace dma
