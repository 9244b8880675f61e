// Skills from games against the figures of the public suites of TrueSkill and TrueSkill Through Time.
#include <doctest/doctest.h>

#include <cmath>

#include "tests/models/games/exact_games.h"

using namespace dma;
using namespace dma::oracle;

namespace {

Game played(std::uint32_t winner, std::uint32_t loser, bool is_draw = false) {
  return {{{{winner}, 1}, {{loser}, is_draw ? 1.0 : 2.0}}};
}

}  // namespace

// Figures of the public suites of TrueSkill, each beside the posterior by sums over a grid: where two teams play it is
// the same, of more EP differs from it by less than 0.02 standard deviations.
TEST_CASE("rating: games move skills as in the public suites, and as the posterior says") {
  const auto check = [](const Game& game, std::size_t players, const std::vector<Skill>& before,
                        const std::vector<Skill>& published, const std::vector<Skill>& exact, double tolerance,
                        const RatingOptions& options) {
    Rating rating(before, options);
    CHECK(rating.play(game).faults == 0);
    RatingOptions known = options;
    known.priors = before;
    std::vector<std::vector<Skill>> found{rating.skills()};
    found.push_back(rate_season(std::span(&game, 1), players, known, SeasonSolver::by_sweeps).skills);
    if (game.teams.size() == 2) found.push_back(rate_season(std::span(&game, 1), players, known).skills);
    for (std::size_t i = 0; i < players; ++i) {
      for (const std::vector<Skill>& skills : found) {
        INFO("player ", i, " of ", players, ": ", skills[i].mean, " ", skills[i].sd);
        CHECK(std::abs(skills[i].mean - published[i].mean) < 6e-4);
        CHECK(std::abs(skills[i].sd - published[i].sd) < 6e-4);
      }
      CHECK(std::abs(published[i].mean - exact[i].mean) < tolerance * exact[i].sd);
      CHECK(std::abs(published[i].sd - exact[i].sd) < tolerance * exact[i].sd);
    }
  };
  const Skill usual{25, 25.0 / 3};
  struct TwoTeams {
    std::size_t first, second;
    bool is_draw;
    Skill winners, losers;
  };
  for (const TwoTeams& t : std::vector<TwoTeams>{{1, 1, false, {29.396, 7.171}, {20.604, 7.171}},
                                                 {1, 1, true, {25, 6.458}, {25, 6.458}},
                                                 {1, 2, false, {33.731, 7.317}, {16.269, 7.317}},
                                                 {1, 2, true, {31.660, 7.138}, {18.340, 7.138}},
                                                 {1, 3, false, {36.337, 7.527}, {13.663, 7.527}},
                                                 {1, 3, true, {34.990, 7.455}, {15.010, 7.455}},
                                                 {1, 7, false, {40.582, 7.917}, {9.418, 7.917}},
                                                 {2, 2, false, {28.108, 7.774}, {21.892, 7.774}},
                                                 {2, 2, true, {25, 7.455}, {25, 7.455}},
                                                 {4, 4, false, {27.198, 8.059}, {22.802, 8.059}}}) {
    Game game{{{{}, 1}, {{}, t.is_draw ? 1.0 : 2.0}}};
    std::vector<Skill> published;
    for (std::uint32_t i = 0; i < t.first + t.second; ++i) {
      game.teams[i < t.first ? 0 : 1].players.push_back(i);
      published.push_back(i < t.first ? t.winners : t.losers);
    }
    const std::vector<Skill> before(published.size(), usual);
    check(game, before.size(), before, published, after_two_teams(before, game, {}), 1e-4, {});
  }
  // Of differing skills: an upset that nearly nobody expects, and a draw.
  const std::vector<Skill> uneven{usual, {50, 12.5}};
  const Game upset = played(0, 1, true);
  check(upset, 2, uneven, {{31.662, 7.137}, {35.011, 7.910}}, after_two_teams(uneven, upset, {}), 1e-4, {});
  // Everybody against everybody, in the order of their numbers.
  struct Several {
    RatingOptions options;
    std::vector<Skill> published;
  };
  const RatingOptions through_time{.drift_sd = 0, .draw_probability = 0};  // which drifts between games alone
  for (const Several& s : std::vector<Several>{
           {{}, {{31.675, 6.656}, {25, 6.208}, {18.325, 6.656}}},
           {{}, {{33.207, 6.348}, {27.401, 5.787}, {22.599, 5.787}, {16.793, 6.348}}},
           {through_time, {{31.311, 6.699}, {25, 6.238}, {18.689, 6.699}}}}) {
    Game game;
    for (std::uint32_t i = 0; i < s.published.size(); ++i) game.teams.push_back({{i}, static_cast<double>(i)});
    const std::vector<Skill> before(s.published.size(), usual);
    check(game, before.size(), before, s.published,
          after_chain(before, std::vector<bool>(before.size() - 1, false), s.options), 0.02, s.options);
  }
  // Through time, without drift: three players in a circle of wins are equal, and 5.419 wide by sweeps.
  for (const auto& [drift, sd] : {std::pair{0.0, 5.419}, {25.0 / 300, 5.420}}) {
    const std::vector<Game> circle{played(0, 1), played(2, 0), played(1, 2)};
    const Season season = rate_season(circle, 3, {.drift_sd = drift, .draw_probability = 0}, SeasonSolver::by_sweeps);
    for (const Skill& skill : season.skills) {
      INFO(drift, " ", skill.mean, " ", skill.sd);
      CHECK(std::abs(skill.mean - 25) < 2e-3);
      CHECK(std::abs(skill.sd - sd) < 1e-3);
    }
  }
}

TEST_CASE("rating: the quality of a match is as published, and that of dense matrices") {
  const Skill usual{25, 25.0 / 3};
  const auto all = [&](std::size_t teams, std::size_t players) {
    return std::vector<std::vector<Skill>>(teams, std::vector<Skill>(players, usual));
  };
  // The figures of the public TrueSkill suites.
  CHECK(std::abs(match_quality(all(2, 1)) - 0.447) < 5e-4);
  CHECK(std::abs(match_quality(all(2, 2)) - 0.447) < 5e-4);
  CHECK(std::abs(match_quality(all(3, 1)) - 0.200) < 5e-4);
  CHECK(std::abs(match_quality(all(4, 1)) - 0.089) < 5e-4);
  CHECK(std::abs(match_quality(all(5, 1)) - 0.040) < 5e-4);
  CHECK(std::abs(match_quality(all(8, 1)) - 0.004) < 5e-4);
  CHECK(std::abs(match_quality({{usual}, {usual, usual}}) - 0.135) < 5e-4);
  CHECK(std::abs(match_quality({{usual}, {usual, usual, usual}}) - 0.012) < 5e-4);
  CHECK(std::abs(match_quality({{usual}, {{50, 12.5}}}) - 0.110) < 5e-4);
  CHECK(std::abs(match_quality({{{20, 8}, {25, 6}}, {{35, 7}, {40, 5}}}) - 0.084) < 5e-4);
  CHECK(std::abs(match_quality({{{40, 4}, {45, 3}}, {{20, 7}, {19, 6}, {30, 9}, {10, 4}}, {{50, 5}, {30, 2}}}) -
                 0.367) < 5e-4);
}
