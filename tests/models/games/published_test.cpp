// Skills from games, against the figures of the public suites of TrueSkill and TrueSkill Through Time.
#include <doctest/doctest.h>

#include <cmath>

#include "engine/compile/compile.h"
#include "engine/run/evidence.h"
#include "engine/run/run.h"
#include "factors/standard_registry.h"
#include "models/games/rating_graph.h"
#include "tests/models/games/exact_games.h"

using namespace dma;
using namespace dma::oracle;

namespace {

Game played(std::uint32_t winner, std::uint32_t loser, bool is_draw = false) {
  return {{{{winner}, 1}, {{loser}, is_draw ? 1.0 : 2.0}}};
}

constexpr Skill kUsual{25, 25.0 / 3};

// Players are numbered team after team.
Game game_of(const std::vector<std::vector<Skill>>& teams, const std::vector<double>& ranks,
             const std::vector<std::vector<double>>& shares) {
  Game game;
  std::uint32_t next = 0;
  for (std::size_t t = 0; t < teams.size(); ++t) {
    game.teams.push_back({{}, ranks[t], shares.empty() ? std::vector<double>() : shares[t]});
    for (std::size_t i = 0; i < teams[t].size(); ++i) game.teams.back().players.push_back(next++);
  }
  return game;
}

}  // namespace

TEST_CASE("rating: single games of the public suites, in one table") {
  struct Row {
    RatingOptions options;
    std::vector<std::vector<Skill>> teams;
    std::vector<double> ranks;
    std::vector<Skill> published;
    std::vector<std::vector<double>> shares = {};
  };
  const Skill u = kUsual;
  const auto alone = [](std::vector<Skill> players) {
    std::vector<std::vector<Skill>> teams;
    for (const Skill& player : players) teams.push_back({player});
    return teams;
  };
  const auto equal = [&](std::size_t count) { return alone(std::vector<Skill>(count, u)); };
  const std::vector<double> order{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
  // TrueSkill scales the draw margin by the number of players, and we by the noise of their fractions: the draw
  // probability that makes the margins equal.
  const auto margin_of = [](double players, double squares) {
    const double margin = 0.12566134685507402 * std::sqrt(players / squares);  // P(|N(0, 1)| < 0.1257) = 0.1
    return RatingOptions{.draw_probability = std::erf(margin / std::sqrt(2.0))};
  };
  // Through time a skill drifts only between games.
  const auto through_time = [](double draws) { return RatingOptions{.drift_sd = 0, .draw_probability = draws}; };
  const RatingOptions none = through_time(0), quarter = through_time(0.25);
  const std::vector<std::vector<Skill>> two{{u}, {u}}, one_two{{u}, {u, u}}, two_two{{u, u}, {u, u}},
      fifteen{{{15, 1}, {15, 1}}, {{30, 2}}};
  // Teams of equal players.
  const auto sides = [&](std::size_t first, std::size_t second, bool is_draw, Skill winners, Skill losers) {
    Row row{{}, {std::vector(first, u), std::vector(second, u)}, {1, is_draw ? 1.0 : 2.0}, std::vector(first, winners)};
    row.published.insert(row.published.end(), second, losers);
    return row;
  };
  const std::vector<Row> rows{
      sides(1, 1, false, {29.396, 7.171}, {20.604, 7.171}),
      sides(1, 1, true, {25, 6.458}, {25, 6.458}),
      sides(1, 2, false, {33.731, 7.317}, {16.269, 7.317}),
      sides(1, 2, true, {31.660, 7.138}, {18.340, 7.138}),
      sides(1, 3, false, {36.337, 7.527}, {13.663, 7.527}),
      sides(1, 3, true, {34.990, 7.455}, {15.010, 7.455}),
      sides(1, 7, false, {40.582, 7.917}, {9.418, 7.917}),
      sides(2, 2, false, {28.108, 7.774}, {21.892, 7.774}),
      sides(2, 2, true, {25, 7.455}, {25, 7.455}),
      sides(4, 4, false, {27.198, 8.059}, {22.802, 8.059}),
      // A draw that hardly anyone expects.
      {{}, alone({u, {50, 12.5}}), {1, 1}, {{31.662, 7.137}, {35.011, 7.910}}},
      {{}, equal(4), order, {{33.207, 6.348}, {27.401, 5.787}, {22.599, 5.787}, {16.793, 6.348}}},
      {none, equal(3), order, {{31.311, 6.699}, {25, 6.238}, {18.689, 6.699}}},
      {{.draw_probability = 0.5}, two, {1, 2}, {{30.267, 7.077}, {19.733, 7.077}}},
      {{}, equal(3), {1, 1, 1}, {{25, 5.698}, {25, 5.695}, {25, 5.698}}},
      {{}, equal(3), {3, 2, 1}, {{18.325, 6.656}, {25, 6.208}, {31.675, 6.656}}},
      {{}, equal(5), order, {{34.363, 6.136}, {29.058, 5.536}, {25, 5.420}, {20.942, 5.536}, {15.637, 6.136}}},
      {{},
       equal(8),
       std::vector<double>(8),
       {{25, 4.592}, {25, 4.583}, {25, 4.576}, {25, 4.573}, {25, 4.573}, {25, 4.576}, {25, 4.583}, {25, 4.592}}},
      {{},
       equal(8),
       order,
       {{36.771, 5.749}, {32.242, 5.133}, {29.074, 4.943}, {26.322, 4.874}, {23.678, 4.874}, {20.926, 4.943},
        {17.758, 5.133}, {13.229, 5.749}}},
      {{},
       equal(16),
       order,
       {{40.539, 5.276}, {36.810, 4.711}, {34.347, 4.524}, {32.336, 4.433}, {30.550, 4.380}, {28.893, 4.349},
        {27.310, 4.330}, {25.766, 4.322}, {24.234, 4.322}, {22.690, 4.330}, {21.107, 4.349}, {19.450, 4.380},
        {17.664, 4.433}, {15.653, 4.524}, {13.190, 4.711}, {9.461, 5.276}}},
      {{},
       {{{40, 4}, {45, 3}}, {{20, 7}, {19, 6}, {30, 9}, {10, 4}}, {{50, 5}, {30, 2}}},
       {0, 1, 1},
       {{40.877, 3.840}, {45.493, 2.934}, {19.609, 6.396}, {18.712, 5.625}, {29.353, 7.673}, {9.872, 3.891},
        {48.830, 4.590}, {29.813, 1.976}}},
      {{},
       {{{20, 8}, {25, 6}}, {{35, 7}, {40, 5}}},
       {1, 2},
       {{29.698, 7.008}, {30.455, 5.594}, {27.575, 6.346}, {36.211, 4.768}}},
      {{},
       {{{28, 7}, {27, 6}, {26, 5}}, {{30, 4}, {31, 3}}},
       {0, 1},
       {{28.658, 6.770}, {27.484, 5.856}, {26.336, 4.917}, {29.785, 3.958}, {30.879, 2.983}}},
      {{},
       {{{28, 7}, {27, 6}, {26, 5}}, {{30, 4}, {31, 3}}},
       {1, 0},
       {{21.840, 6.314}, {22.474, 5.575}, {22.857, 4.757}, {32.012, 3.877}, {32.132, 2.949}}},
      {{},
       alone({{10, 8}, {15, 7}, {20, 6}, {25, 5}, {30, 4}, {35, 3}, {40, 2}, {45, 1}}),
       order,
       {{35.135, 4.506}, {32.585, 4.037}, {31.329, 3.756}, {30.984, 3.453}, {31.751, 3.064}, {34.051, 2.541},
        {38.263, 1.849}, {44.118, 0.983}}},
      {margin_of(3, 0.75), one_two, {1, 2}, {{33.939, 7.312}, {16.061, 7.312}, {16.061, 7.312}}, {{0.5}, {0.5, 0.5}}},
      {margin_of(3, 2), one_two, {1, 2}, {{29.440, 7.166}, {25, 8.333}, {20.560, 7.166}}, {{1}, {0, 1}}},
      {margin_of(3, 2.25), one_two, {1, 2}, {{32.417, 7.056}, {21.291, 8.033}, {17.583, 7.056}}, {{1}, {0.5, 1}}},
      {none, two, {1, 2}, {{29.20522, 7.19448}, {20.79478, 7.19448}}},
      {none, {{{29, 1}}, {u}}, {2, 1}, {{28.89648, 0.9966043}, {32.18921, 6.062064}}},
      {through_time(0.5), equal(3), {2, 1, 3}, {{25, 6.093}, {33.379, 6.484}, {16.621, 6.484}}},
      {quarter, two, {1, 1}, {{25, 6.469}, {25, 6.469}}},
      {quarter, {{{25, 3}}, {{29, 2}}}, {1, 1}, {{25.736, 2.709956}, {28.67289, 1.916471}}},
      {quarter, equal(3), {1, 1, 1}, {{25, 5.729}, {25, 5.707}, {25, 5.729}}},
      {quarter, alone({{25, 3}, {25, 3}, {29, 2}}), {1, 1, 1}, {{25.489, 2.638}, {25.511, 2.629}, {28.556, 1.886}}},
      {quarter, fifteen, {1, 1}, {{15, 0.9916}, {15, 0.9916}, {30, 1.9320}}},
      {none, fifteen, {1, 2}, {{15.105, 0.995}, {15.105, 0.995}, {29.58123, 1.95567}}},  // the last from the formula
      {none, {{{15, 1}, {15, 1}}, {{15, 1}, {15, 1}}}, {1, 2},
       {{15.093, 0.996}, {15.093, 0.996}, {14.907, 0.996}, {14.907, 0.996}}},
      {quarter,
       {{{12, 3}, {18, 3}}, {{30, 3}}, {{14, 3}, {16, 3}}},
       {0, 1, 1},
       {{13.051, 2.864}, {19.051, 2.864}, {29.292, 2.764}, {13.658, 2.813}, {15.658, 2.813}}},
      // A player who takes no part learns nothing; the others are as in two against one.
      {none, two_two, {1, 2}, {{25.55048, 8.09145}, {25.55048, 8.09145}, {24.44952, 8.09145}, u}, {{1, 1}, {1, 0}}},
      // Without draws only ratios of fractions matter: some published ones exceed 1.
      {none, two, {1, 2}, {{30.625173, 7.765472}, {13.749653, 5.733839}}, {{0.5}, {1}}},
      {none, two, {1, 2}, {{27.630081, 7.206677}, {23.158943, 7.801628}}, {{1}, {0.7}}},
      {none, two, {1, 2}, {{26.142438, 7.573088}, {24.500183, 8.193278}}, {{1}, {0.7 / 1.6}}},
      {none,
       two_two,
       {1, 2},
       {{27.539023, 8.129639}, {30.078046, 7.485372}, {19.287197, 7.243465}, {21.191465, 7.867608}},
       {{0.4, 0.8}, {0.9, 0.6}}},
      {none,
       two_two,
       {1, 2},
       {{25.190190, 8.220511}, {25.219450, 8.182783}, {24.897589, 8.300779}, {24.941479, 8.322717}},
       {{1.3 / 1.5, 1}, {0.7 / 1.5, 0.4 / 1.5}}},
      {none,
       two_two,
       {1, 2},
       {{31.674697, 7.501180}, {25.834337, 8.320970}, {22.079819, 8.180607}, {14.987953, 6.308469}},
       {{1.6 / 2.4, 0.2 / 2.4}, {0.7 / 2.4, 1}}}};
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const Row& row = rows[r];
    const Game game = game_of(row.teams, row.ranks, row.shares);
    RatingOptions known = row.options;
    for (const auto& team : row.teams) known.priors.insert(known.priors.end(), team.begin(), team.end());
    Rating rating(known.priors, row.options);
    CHECK(rating.play(game).faults == 0);
    const Season season = rate_season(std::span(&game, 1), known.priors.size(), known, SeasonSolver::by_sweeps);
    for (std::size_t i = 0; i < known.priors.size(); ++i)
      for (const Skill& skill : {rating.skills()[i], season.skills[i]}) {
        INFO("row ", r, ", player ", i, ": ", skill.mean, " ", skill.sd);
        CHECK(std::abs(skill.mean - row.published[i].mean) < 1.1e-3);
        CHECK(std::abs(skill.sd - row.published[i].sd) < 1.1e-3);
      }
    if (row.teams.size() > 2) continue;
    const Season jointly = rate_season(std::span(&game, 1), known.priors.size(), known);
    const std::vector<Skill> exact = after_two_teams(known.priors, game, row.options);
    for (std::size_t i = 0; i < exact.size(); ++i) {
      INFO("row ", r, ", player ", i, ": ", exact[i].mean, " ", exact[i].sd);
      CHECK(std::abs(exact[i].mean - row.published[i].mean) < 1.1e-3);
      CHECK(std::abs(exact[i].sd - row.published[i].sd) < 1.1e-3);
      CHECK(std::abs(jointly.skills[i].mean - exact[i].mean) < 1.1e-3);
      CHECK(std::abs(jointly.skills[i].sd - exact[i].sd) < 1.1e-3);
    }
  }
  const Chances even = chances(Skill{25, 1e-7}, Skill{25, 1e-7}, quarter);
  CHECK(std::abs(even.draw - 0.25) < 1e-6);
  CHECK(std::abs(even.win - 0.375) < 1e-6);
  const double noise = quarter.performance_sd * quarter.performance_sd;
  CHECK(std::abs(draw_margin(2 * noise, quarter) - 1.8776004584348176) < 1e-12);
  CHECK(std::abs(draw_margin(3 * noise, quarter) - 2.2995815319905395) < 1e-12);
  const auto part = [&](double share) { return Skill{share * u.mean, share * u.sd, share * 25.0 / 6}; };
  CHECK(std::abs(match_quality({{u}, {part(0.25), part(0.75)}, {u}}) - 0.2) < 5e-4);
  CHECK(std::abs(match_quality({{u}, {part(0.8), part(0.9)}, {u}}) - 0.0809) < 5e-5);
  CHECK(std::abs(match_quality({{u}, {u, u}, {u}}) - 0.047) < 5e-4);
  CHECK(std::abs(match_quality({{{28, 7}, {27, 6}, {26, 5}}, {{30, 4}, {31, 3}}}) - 0.254) < 5e-4);
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
       {{0, 0, {4.0849024, 5.106919}}, {0, 1, {4.0849024, 5.106919}}, {0, 2, {-0.53302949, 5.106919}},
        {0, 3, {-0.53302949, 5.106919}}, {2, 4, {-3.551872939, 5.15456970}}, {1, 5, {-3.551872939, 5.15456970}}}},
      {shared,
       {at(0, teams({0}, {1}, {1}, {0.8})), at(1, teams({1}, {0}, {1}, {0.8}))},
       {{0, 0, {5.53765944, 4.758722}}, {0, 1, {-0.83012755, 5.2395689}}, {1, 0, {1.7922776, 4.0995667}},
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

TEST_CASE("rating: the quality of a match is as published, and that of dense matrices") {
  const Skill usual{25, 25.0 / 3};
  const auto all = [&](std::size_t teams, std::size_t players) {
    return std::vector<std::vector<Skill>>(teams, std::vector<Skill>(players, usual));
  };
  // The figures of the public TrueSkill suites.
  CHECK(std::abs(match_quality(all(2, 1)) - 0.447) < 5e-4);
  CHECK(std::abs(match_quality(all(2, 2)) - 0.447) < 5e-4);
  CHECK(std::abs(match_quality(all(2, 4)) - 0.447) < 5e-4);
  for (const auto& hopeless : std::vector<std::vector<std::vector<Skill>>>{
           {{usual}, std::vector<Skill>(7, usual)},
           {{{10, 8}}, {{15, 7}}, {{20, 6}}, {{25, 5}}, {{30, 4}}, {{35, 3}}, {{40, 2}}, {{45, 1}}},
           {{{-323.263, 2.965}}, {{-48.441, 2.190}}},
           {{usual}, {{1000, usual.sd}}}})
    CHECK(match_quality(hopeless) < 5e-4);
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
