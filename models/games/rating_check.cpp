// Checks of games and options of a rating.
#include <algorithm>
#include <cmath>
#include <set>

#include "engine/support/special_functions.h"
#include "engine/support/text.h"
#include "models/games/rating_graph.h"

namespace dma {

namespace {

constexpr double kLargest = 1e100, kLeastSd = 1e-100;  // their squares and quotients stay in range

void check_number(const char* name, double value, bool is_right, const char* expected) {
  if (!is_right) fail("rating: {} is {}; {} is expected", name, value, expected);
}
void check_mean(const char* name, double value) {
  check_number(name, value, std::abs(value) <= kLargest, "a number from -1e100 to 1e100");
}
void check_sd(const char* name, double value) {
  check_number(name, value, value >= kLeastSd && value <= kLargest, "a number above 0, from 1e-100 to 1e100,");
}

}  // namespace

void check_rating_options(const RatingOptions& options) {
  check_mean("the mean of a skill", options.mean);
  check_sd("the standard deviation of a skill", options.sd);
  check_sd("the standard deviation of a performance", options.performance_sd);
  check_number("the standard deviation of the drift", options.drift_sd,
               options.drift_sd >= 0 && options.drift_sd <= kLargest, "a number from 0 to 1e100");
  check_number("the probability of a draw", options.draw_probability,
               options.draw_probability >= 0 && options.draw_probability < 1, "a number from 0 to below 1");
  check_skills(options.priors);
}

void check_skills(std::span<const Skill> skills) {
  for (const Skill& skill : skills) {
    check_mean("the mean of a player's skill", skill.mean);
    check_sd("the standard deviation of a player's skill", skill.sd);
    if (skill.performance_sd) check_sd("the standard deviation of a player's performance", *skill.performance_sd);
  }
}

void check_times(std::span<const Game> games, std::size_t number) {
  for (std::size_t g = 0; g < games.size(); ++g) {
    if (games[g].time && !std::isfinite(*games[g].time))
      fail("game {}: its time is {}; a finite number is expected", g + number, *games[g].time);
    if (g == 0) continue;
    if (games[g].time.has_value() != games[g - 1].time.has_value())
      fail("game {} has {} time, and the one before it {}; give a time to all games, or to none", g + number,
           games[g].time ? "a" : "no", games[g - 1].time ? "one" : "none");
    if (games[g].time && *games[g].time < *games[g - 1].time)
      fail("game {}: its time is {}, and the one before it has {}; give games in the order of time", g + number,
           *games[g].time, *games[g - 1].time);
  }
}

void check_game(const Game& game, std::size_t number, std::size_t players, const RatingOptions& options) {
  if (game.teams.size() < 2)
    fail("game {}: {} is given; at least two teams are expected", number,
         game.teams.empty() ? "no team" : "a single team");
  std::set<std::uint32_t> seen;
  std::set<double> ranks;
  for (const Team& team : game.teams) {
    if (team.players.empty()) fail("game {}: a team has no players; at least one is expected", number);
    if (!std::isfinite(team.rank)) fail("game {}: a team has rank {}; a finite number is expected", number, team.rank);
    if (!ranks.insert(team.rank).second && options.draw_probability == 0)
      fail("game {}: it ends in a draw (rank {} twice), but the probability of a draw is 0; give one above 0", number,
           team.rank);
    if (!team.shares.empty() && team.shares.size() != team.players.size())
      fail("game {}: {} shares for {} players; one for each is expected, or none if all take part in full", number,
           team.shares.size(), team.players.size());
    for (const double share : team.shares)
      if (!(share >= 0 && share <= 1))
        fail("game {}: a player's share is {}; a number from 0 to 1 is expected", number, share);
    if (!team.shares.empty() && std::ranges::max(team.shares) == 0)
      fail("game {}: all players of a team have the share 0; leave the team out, or give one of them more", number);
    for (const std::uint32_t player : team.players) {
      if (player >= players) fail("game {}: player {} is not among the {} players", number, player, players);
      if (!seen.insert(player).second)
        fail("game {}: player {} appears twice; a player is in one team, once", number, player);
    }
  }
}

double performance_variance(const Skill& skill, const RatingOptions& options) {
  const double sd = skill.performance_sd.value_or(options.performance_sd);
  return sd * sd;
}

double draw_margin(double variance, const RatingOptions& options) {
  return std::sqrt(2 * variance) * inverse_erf(options.draw_probability);
}

}  // namespace dma
