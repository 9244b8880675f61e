// Skills from games, against the figures of the public suites of TrueSkill and TrueSkill Through Time.
#include <doctest/doctest.h>

#include <cmath>

#include "engine/compile/compile.h"
#include "engine/run/run.h"
#include "factors/standard_registry.h"
#include "models/games/rating_graph.h"
#include "tests/models/games/exact_games.h"
#include "tests/oracles/files.h"

using namespace dma;
using namespace dma::oracle;

namespace {

Game played(std::uint32_t winner, std::uint32_t loser, bool is_draw = false) {
  return {{{{winner}, 1}, {{loser}, is_draw ? 1.0 : 2.0}}};
}

constexpr Skill kUsual{25, 25.0 / 3};

// A game of published.csv, whose rows are players, team after team, with their skills before and after.
struct PublishedGame {
  RatingOptions options;
  Game game;
  std::vector<Skill> before, after;
};

std::vector<PublishedGame> read_games() {
  const auto columns = read_columns("models/games/published.csv");
  std::vector<PublishedGame> all;
  for (std::size_t i = 0; i < columns.at("game").size(); ++i) {
    const auto at = [&](const char* name) { return columns.at(name)[i]; };
    if (at("game") == static_cast<double>(all.size()))
      all.push_back({{.drift_sd = at("drift"), .draw_probability = at("draws")}, {}, {}, {}});
    PublishedGame& one = all.back();
    if (at("team") == static_cast<double>(one.game.teams.size())) one.game.teams.push_back({{}, at("rank")});
    one.game.teams.back().players.push_back(static_cast<std::uint32_t>(one.before.size()));
    one.game.teams.back().shares.push_back(at("share"));
    one.before.push_back({at("mean"), at("sd")});
    one.after.push_back({at("published_mean"), at("published_sd")});
  }
  return all;
}

}  // namespace

TEST_CASE("rating: single games, chances and qualities of matches of the public suites") {
  // TrueSkill scales the draw margin by the number of players, and we by the noise of their fractions: where fractions
  // differ the file has the draw probability that makes the margins equal.
  const std::vector<PublishedGame> games = read_games();
  for (std::size_t r = 0; r < games.size(); ++r) {
    const auto& [options, game, before, after] = games[r];
    RatingOptions known = options;
    known.priors = before;
    Rating rating(before, options);
    CHECK(rating.play(game).faults == 0);
    const std::span season(&game, 1);
    std::vector<std::vector<Skill>> found = {rating.skills(),
                                             rate_season(season, before.size(), known, SeasonSolver::by_sweeps).skills};
    if (game.teams.size() == 2) {
      found.push_back(after_two_teams(before, game, options));
      found.push_back(rate_season(season, before.size(), known).skills);
    }
    for (const std::vector<Skill>& skills : found)
      for (std::size_t i = 0; i < before.size(); ++i) {
        INFO("game ", r, ", player ", i, ": ", skills[i].mean, " ", skills[i].sd);
        CHECK(std::abs(skills[i].mean - after[i].mean) < 1.1e-3);
        CHECK(std::abs(skills[i].sd - after[i].sd) < 1.1e-3);
      }
  }
  const RatingOptions quarter{.drift_sd = 0, .draw_probability = 0.25};
  const Skill u = kUsual;
  const Chances even = chances(Skill{25, 1e-7}, Skill{25, 1e-7}, quarter);
  CHECK(std::abs(even.draw - 0.25) < 1e-6);
  CHECK(std::abs(even.win - 0.375) < 1e-6);
  const double noise = quarter.performance_sd * quarter.performance_sd;
  CHECK(std::abs(draw_margin(2 * noise, quarter) - 1.8776004584348176) < 1e-12);
  CHECK(std::abs(draw_margin(3 * noise, quarter) - 2.2995815319905395) < 1e-12);
  const auto part = [&](double share) { return Skill{share * u.mean, share * u.sd, share * 25.0 / 6}; };
  const auto equal = [&](std::size_t teams, std::size_t players) {
    return std::vector<std::vector<Skill>>(teams, std::vector<Skill>(players, u));
  };
  const struct {
    std::vector<std::vector<Skill>> teams;
    double published, within = 5e-4;
  } matches[] = {{{{u}, {part(0.25), part(0.75)}, {u}}, 0.2},
                 {{{u}, {part(0.8), part(0.9)}, {u}}, 0.0809, 5e-5},
                 {{{u}, {u, u}, {u}}, 0.047},
                 {{{{28, 7}, {27, 6}, {26, 5}}, {{30, 4}, {31, 3}}}, 0.254},
                 {equal(2, 1), 0.447},
                 {equal(2, 2), 0.447},
                 {equal(2, 4), 0.447},
                 {equal(3, 1), 0.2},
                 {equal(4, 1), 0.089},
                 {equal(5, 1), 0.04},
                 {equal(8, 1), 0.004},
                 {{{u}, {u, u}}, 0.135},
                 {{{u}, {u, u, u}}, 0.012},
                 {{{u}, {{50, 12.5}}}, 0.11},
                 {{{{20, 8}, {25, 6}}, {{35, 7}, {40, 5}}}, 0.084},
                 {{{{40, 4}, {45, 3}}, {{20, 7}, {19, 6}, {30, 9}, {10, 4}}, {{50, 5}, {30, 2}}}, 0.367},
                 {{{u}, std::vector<Skill>(7, u)}, 0},
                 {{{{10, 8}}, {{15, 7}}, {{20, 6}}, {{25, 5}}, {{30, 4}}, {{35, 3}}, {{40, 2}}, {{45, 1}}}, 0},
                 {{{{-323.263, 2.965}}, {{-48.441, 2.190}}}, 0},
                 {{{u}, {{1000, u.sd}}}, 0}};
  for (const auto& match : matches) CHECK(std::abs(match_quality(match.teams) - match.published) < match.within);
}

TEST_CASE("rating: games through time as in the public suite, one after the other and all at once") {
  struct Then {
    std::size_t game;
    std::uint32_t player;
    Skill skill;
  };
  struct Row {
    RatingOptions options;
    std::vector<Game> games;
    std::vector<Then> online, smoothed;  // published
  };
  const auto at = [](double time, Game game) {
    game.time = time;
    return game;
  };
  const auto teams = [](std::vector<std::uint32_t> winners, std::vector<std::uint32_t> losers,
                        std::vector<double> first = {}, std::vector<double> second = {}) {
    return Game{{{std::move(winners), 1, std::move(first)}, {std::move(losers), 2, std::move(second)}}};
  };
  const RatingOptions still{.drift_sd = 0, .draw_probability = 0}, drifts{.draw_probability = 0},
      wide{.mean = 0, .sd = 6, .performance_sd = 1, .drift_sd = 0.05, .draw_probability = 0},
      wide_still{.mean = 0, .sd = 6, .performance_sd = 1, .drift_sd = 0, .draw_probability = 0},
      shared{.mean = 2, .sd = 6, .performance_sd = 1, .drift_sd = 0, .draw_probability = 0},
      wider{.mean = 0, .sd = std::sqrt(136.0), .performance_sd = 1, .drift_sd = 10, .draw_probability = 0};
  const std::vector<Game> abc{at(0, played(0, 1)), at(1, played(2, 0)), at(2, played(1, 2))},
      circle{at(1, played(0, 1)), at(2, played(1, 2)), at(3, played(2, 0))};
  const std::vector<Row> rows{
      {drifts,
       abc,
       {{0, 0, {29.205, 7.19448}}},
       {{0, 0, {25.000267, 5.419423}}, {0, 1, {24.999198, 5.419511}}, {2, 1, {25.001332, 5.420053}}}},
      {still,
       abc,
       {{1, 0, {24.96097, 6.299}}, {2, 1, {27.09559, 6.01033}}, {2, 2, {24.88968, 5.86631}}},
       {{2, 1, {25, 5.419}}}},
      {still, circle, {{2, 0, {22.904, 6.010}}, {2, 2, {25.110, 5.866}}}, {{2, 0, {25, 5.419}}, {2, 2, {25, 5.419}}}},
      {drifts,
       circle,
       {{2, 0, {22.904, 6.011}}, {2, 2, {25.111, 5.867}}},
       {{2, 0, {24.999, 5.420}}, {2, 2, {25.001, 5.420}}}},
      {wide, abc, {}, {{0, 0, {0.000548, 2.395715}}, {0, 1, {-0.001641, 2.395765}}, {2, 1, {0.001762, 2.395930}}}},
      {wide_still,
       {teams({0, 1}, {2, 3}), teams({1, 2}, {4, 5}), teams({0, 3}, {4, 5})},
       {},
       {{0, 0, {4.0849024, 5.106919}},
        {0, 1, {4.0849024, 5.106919}},
        {0, 2, {-0.53302949, 5.106919}},
        {0, 3, {-0.53302949, 5.106919}},
        {2, 4, {-3.551872939, 5.15456970}},
        {1, 5, {-3.551872939, 5.15456970}}}},
      {shared,
       {at(0, teams({0}, {1}, {1}, {0.8})), at(1, teams({1}, {0}, {1}, {0.8}))},
       {{0, 0, {5.53765944, 4.758722}},
        {0, 1, {-0.83012755, 5.2395689}},
        {1, 0, {1.7922776, 4.0995667}},
        {1, 1, {4.8455332, 3.7476161}}},
       {}},
      {wide_still, {at(0, played(0, 1)), at(1, played(0, 1))}, {{0, 0, {3.33907906, 4.985032699}}}, {}},
      {wider, {at(0, played(0, 1)), at(1, played(0, 1))}, {{0, 0, {6.555467799, 9.6449905098}}}, {}}};
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const Row& row = rows[r];
    std::size_t players = 0;
    for (const Game& game : row.games)
      for (const Team& team : game.teams)
        for (const std::uint32_t player : team.players) players = std::max<std::size_t>(players, player + 1);
    const auto check = [&](const Then& published, const Skill& found) {
      INFO("row ", r, ", game ", published.game, ", player ", published.player, ": ", found.mean, " ", found.sd);
      CHECK(std::abs(found.mean - published.skill.mean) < 6e-4);
      CHECK(std::abs(found.sd - published.skill.sd) < 6e-4);
    };
    Rating rating(players, row.options);
    for (std::size_t g = 0; g < row.games.size(); ++g) {
      rating.play(row.games[g]);
      for (const Then& then : row.online)
        if (then.game == g) check(then, rating.skills()[then.player]);
    }
    const Season season = rate_season(row.games, players, row.options, SeasonSolver::by_sweeps);
    for (const Then& then : row.smoothed)
      for (const SkillThen& found : season.history)
        if (found.game == then.game && found.player == then.player) check(then, found.skill);
    if (row.options.mean == 2) {  // each won once with the larger fraction: in the end they are equal
      CHECK(std::abs(season.skills[0].mean - season.skills[1].mean) < 1e-4);
      CHECK(std::abs(season.skills[0].sd - season.skills[1].sd) < 1e-4);
    }
  }
}

// The public suite has 0.16588 for three and 1.218e-8 for twelve; the exact value is 1 / n!.
TEST_CASE("rating: an order of players whose skills are known and equal has nearly the evidence 1 / n!") {
  for (const std::uint32_t players : {3u, 12u}) {
    Game game;
    for (std::uint32_t i = 0; i < players; ++i) game.teams.push_back({{i}, static_cast<double>(i)});
    const RatingOptions equals{.mean = 0, .sd = 1e-6, .performance_sd = 1, .drift_sd = 0, .draw_probability = 0};
    const RatingGraph one(std::span(&game, 1), players, equals);
    const Plan plan = compile(one.graph, season_sweeps({.limit = 500}), standard_registry(), {.method = "ep"});
    State state(plan);
    CHECK(run(plan, state).converged());
    CHECK(std::abs(log_evidence(plan, state) + std::lgamma(players + 1.0)) < 0.003);
  }
}
