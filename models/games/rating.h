// Skills from games: a performance is a skill and noise, a team performs as the sum of its players, and who performs
// better by more than a margin wins. Skills drift from game to game.
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

#include "engine/run/report.h"

namespace dma {

struct Team {
  std::vector<std::uint32_t> players;  // by number, from 0
  double rank = 0;                     // the smallest comes first; teams of one rank drew
  std::vector<double> shares = {};     // of the game that each player took part in, in [0, 1]; empty: all of it
};

struct Game {
  std::vector<Team> teams;  // two or more
  // When it was played, in any unit, of all games or of none. Skills then drift by drift_sd in one unit of time: from
  // one game of a player to the next by drift_sd sqrt(time between them), and not before the first.
  std::optional<double> time = {};
};

struct Skill {
  double mean = 0, sd = 0;
  std::optional<double> performance_sd = {};  // of this player; none: that of the options
};

struct RatingOptions {
  double mean = 25, sd = 25.0 / 3;   // of a skill before its first game
  double performance_sd = 25.0 / 6;  // of a performance around the skill: "beta"
  double drift_sd = 25.0 / 300;      // of the change of a skill before each of its games: "tau"
  // That two players of the same skill draw; it fixes the margin, which grows with the noise of those who play.
  double draw_probability = 0.1;
  std::vector<Skill> priors = {};  // of each player before the first game; empty: mean and sd of all
};

// A skill as it was when a game was played.
struct SkillThen {
  std::size_t game = 0;
  std::uint32_t player = 0;
  Skill skill;
};

// Jointly: all skills as one Gaussian with their correlations. By sweeps: skills as if they were independent, in time
// that grows with the number of games alone; differences between players come out nearly the same, but in a league of
// few players the skills themselves look surer than they are. Best: jointly up to some hundred players, where that
// settles.
enum class SeasonSolver { best, jointly, by_sweeps };

struct Season {
  std::vector<Skill> skills;       // by player, after the last game of each
  std::vector<SkillThen> history;  // in the order of games
  Report report;                   // with a part of its own where it was solved jointly

  // Of two different players' skills after their last games; 0 where it was solved by sweeps.
  double covariance(std::uint32_t a, std::uint32_t b) const;

  struct Solved;
  std::shared_ptr<const Solved> solved;
};

// All games at once: what is learned later tells of earlier games too. An Error if a game makes no sense, or ends in a
// draw where draws have probability 0.
Season rate_season(std::span<const Game> games, std::size_t players, const RatingOptions& options = {},
                   SeasonSolver solver = SeasonSolver::best);

// One game after the other: what is known after a game is the prior of the next.
class Rating {
 public:
  explicit Rating(std::size_t players, const RatingOptions& options = {});
  // Of players of whom something is known.
  explicit Rating(std::vector<Skill> skills, const RatingOptions& options = {});
  ~Rating();

  Report play(const Game& game);
  std::uint32_t join(const Skill& skill);  // a new player, who gets the next number
  const std::vector<Skill>& skills() const { return skills_; }  // by player
  const RatingOptions& options() const { return options_; }

 private:
  struct Solver;  // of games of one form

  std::size_t played_ = 0;
  RatingOptions options_;
  std::vector<Skill> skills_;
  std::vector<std::optional<double>> last_times_;  // of each player's last game
  std::optional<double> now_;
  std::map<std::vector<double>, std::unique_ptr<Solver>> solvers_;
};

// Of the next game between two players or two teams; their skills drift before it.
struct Chances {
  double win = 0, draw = 0, loss = 0;  // of the first
};
Chances chances(std::span<const Skill> first, std::span<const Skill> second, const RatingOptions& options = {});
inline Chances chances(const Skill& first, const Skill& second, const RatingOptions& options = {}) {
  return chances(std::span(&first, 1), std::span(&second, 1), options);
}
// Of players of a season, by number, with their correlations.
Chances chances(const Season& season, std::span<const std::uint32_t> first, std::span<const std::uint32_t> second,
                const RatingOptions& options = {});

// How even a game of these teams would be, in (0, 1]: the density of a draw of all of them, over that of players whose
// skills are known and equal (Herbrich, Minka and Graepel 2006). Skills are taken as they are, without drift.
double match_quality(const std::vector<std::vector<Skill>>& teams, const RatingOptions& options = {});

}  // namespace dma
