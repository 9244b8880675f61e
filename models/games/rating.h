// Skills from games: a performance is a skill plus noise, a team's performance is the sum of its players', and a team
// wins if its performance is higher by more than a margin. Skills drift from game to game.
//
//   const std::vector<Game> games{{{{0}, 1}, {{1}, 2}}, {{{1}, 1}, {{2}, 1}}};  // 0 beats 1; 1 and 2 draw
//   const Season season = rate_season(games, 3);                                // every game informs all others
//   Rating rating(3);                                                           // or one game after the other:
//   for (const Game& game : games) rating.play(game);
//   const Chances next = chances(rating.skills()[0], rating.skills()[2], rating.options());
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/run/run.h"

namespace dma {

struct Team {
  std::vector<std::uint32_t> players;  // indices, from 0
  double rank = 0;                     // the smallest wins; teams of equal rank drew
  std::vector<double> shares = {};  // fraction of the game that each player took part in, in [0, 1]; empty: all of it
};

struct Game {
  std::vector<Team> teams;  // two or more
  // Time of the game, in any unit, given for all games or for none. Skills then drift by drift_sd per unit of time:
  // between two games of a player by drift_sd sqrt(time between them), and not before the first game.
  std::optional<double> time = {};
};

struct Skill {
  double mean = 0, sd = 0;
  std::optional<double> performance_sd = {};  // this player's; none: the options'
};

struct RatingOptions {
  double mean = 25, sd = 25.0 / 3;   // prior of a skill before the first game
  double performance_sd = 25.0 / 6;  // noise of a performance: "beta"
  double drift_sd = 25.0 / 300;      // drift of a skill before each of its games: "tau"
  // Probability of a draw between two players of equal skill; it determines the margin, which grows with the noise of
  // the players.
  double draw_probability = 0.1;
  std::vector<Skill> priors = {};  // prior of each player; empty: mean and sd for all
};

// A skill at the time of a game.
struct SkillThen {
  std::size_t game = 0;
  std::uint32_t player = 0;
  Skill skill;
};

// Jointly: all skills as one Gaussian with correlations. By sweeps: skills as if independent, in time proportional to
// the number of games; differences between players are nearly the same, but in a league of few players the skills look
// more certain than they are. Best: jointly up to some hundred players, if that converges.
enum class SeasonSolver { best, jointly, by_sweeps };

struct Season {
  std::vector<Skill> skills;       // by player, after the player's last game
  std::vector<SkillThen> history;  // in the order of games
  Report report;                   // has a joint part if solved jointly

  // Covariance of two players' skills after their last games; 0 if solved by sweeps.
  double covariance(std::uint32_t a, std::uint32_t b) const;

  struct Solved;
  std::shared_ptr<const Solved> solved;
};

// Rates all games at once, so that later games inform earlier skills. An Error for an invalid game, or for a draw if
// draws have probability 0.
Season rate_season(std::span<const Game> games, std::size_t players, const RatingOptions& options = {},
                   SeasonSolver solver = SeasonSolver::best);

// Rates game by game: the posterior after a game is the prior of the next.
class Rating {
 public:
  explicit Rating(std::size_t players, const RatingOptions& options = {});
  // Starts from known skills.
  explicit Rating(std::vector<Skill> skills, const RatingOptions& options = {});
  ~Rating();

  Report play(const Game& game);                                // learns from one more game
  std::uint32_t join(const Skill& skill);                       // adds a player and returns the index
  const std::vector<Skill>& skills() const { return skills_; }  // by player
  const RatingOptions& options() const { return options_; }     // as they were given

 private:
  struct Solver;  // solver for games of one form

  std::size_t played_ = 0;
  RatingOptions options_;
  std::vector<Skill> skills_;
  std::vector<std::optional<double>> last_times_;  // by player, time of the last game
  std::optional<double> now_;
  std::map<std::vector<double>, std::unique_ptr<Solver>> solvers_;
};

// Outcome probabilities of the next game between two players or two teams; their skills drift before it.
struct Chances {
  double win = 0, draw = 0, loss = 0;  // the first player's or team's
};
// For two teams, or two players.
Chances chances(std::span<const Skill> first, std::span<const Skill> second, const RatingOptions& options = {});
inline Chances chances(const Skill& first, const Skill& second, const RatingOptions& options = {}) {
  return chances(std::span(&first, 1), std::span(&second, 1), options);
}
// For players of a season, by index, with their correlations.
Chances chances(const Season& season, std::span<const std::uint32_t> first, std::span<const std::uint32_t> second,
                const RatingOptions& options = {});

// Quality of a game of these teams, in (0, 1]: the density of a draw of all teams, relative to players with known,
// equal skills (Herbrich, Minka and Graepel 2006). Skills are used without drift.
double match_quality(const std::vector<std::vector<Skill>>& teams, const RatingOptions& options = {});

}  // namespace dma
