// Skills from games, against quadrature; published numbers are in published_test.cpp.
#include "models/games/rating.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <boost/random/mersenne_twister.hpp>
#include <boost/random/normal_distribution.hpp>
#include <boost/random/uniform_int_distribution.hpp>
#include <cmath>

#include "engine/support/text.h"
#include "tests/models/games/exact_games.h"
#include "tests/oracles/distributions.h"
#include "tests/oracles/relative.h"

using namespace dma;
using namespace dma::oracle;

namespace {

const double kMargin = draw_window({});

void check_same(const Skill& found, const Skill& expected, double tolerance) {
  CHECK(std::abs(found.mean - expected.mean) < tolerance * expected.sd);
  CHECK(std::abs(found.sd - expected.sd) < tolerance * expected.sd);
}

Game duel(std::uint32_t winner, std::uint32_t loser, bool is_draw = false) {
  return {{{{winner}, 1}, {{loser}, is_draw ? 1.0 : 2.0}}};
}

std::vector<Game> random_duels(std::size_t players, std::size_t games, std::uint64_t seed) {
  boost::random::mt19937_64 random(seed);
  boost::random::normal_distribution<double> normal;
  boost::random::uniform_int_distribution<std::uint32_t> any(0, static_cast<std::uint32_t>(players - 1));
  std::vector<double> skills;
  for (std::size_t i = 0; i < players; ++i) skills.push_back(25 + 25.0 / 3 * normal(random));
  std::vector<Game> season;
  while (season.size() < games) {
    const std::uint32_t a = any(random), b = any(random);
    if (a == b) continue;
    const double ahead = skills[a] - skills[b] + std::sqrt(2.0) * 25 / 6 * normal(random);
    season.push_back(std::abs(ahead) < kMargin ? duel(a, b, true) : ahead > 0 ? duel(a, b) : duel(b, a));
  }
  return season;
}

}  // namespace

TEST_CASE("rating: games of two teams, with draws and shares, are exact") {
  constexpr double kTolerance = 1e-7;  // accuracy of the sums in the oracle
  const std::vector<Skill> before{{25, 8}, {31, 5, 9.0}, {20, 7}, {28, 2, 1.5}, {22, 6}};
  RatingOptions options{.draw_probability = 0.2, .priors = before};
  const std::vector<Game> games{
      {{{{0, 1}, 1}, {{2, 3, 4}, 2}}},                   // sizes differ
      {{{{0, 1}, 2}, {{2, 3, 4}, 1}}},                   // the second wins
      {{{{0}, 1}, {{1, 2}, 1}}},                         // a draw
      {{{{0, 1}, 1, {1, 0.3}}, {{2, 3}, 2, {0.5, 1}}}},  // fractions of the game
      {{{{4}, 1, {0.25}}, {{1}, 1}}},                    // one player for a quarter of the game, and a draw
      {{{{2}, -3.5}, {{1}, 7}}},                         // any numbers are ranks
  };
  for (const Game& game : games) {
    Rating rating(before, options);
    rating.play(game);
    const auto expected = after_two_teams(before, game, options);
    const Season season = rate_season(std::span(&game, 1), before.size(), options, SeasonSolver::by_sweeps);
    for (std::size_t i = 0; i < before.size(); ++i) {
      check_same(rating.skills()[i], expected[i], kTolerance);
      check_same(season.skills[i], expected[i], kTolerance);
    }
  }
  // The chances of the next game, and its quality, use each player's noise; equal ones equal the default.
  const double noise = 2 * 25.0 / 6 * 25 / 6, other = 25.0 / 6 * 25 / 6 + 81, sd = std::sqrt(89 + other);
  options.drift_sd = 0;
  const Chances next = chances(before[0], before[1], options);
  const double margin = std::sqrt(other) * oracle::quantile(oracle::normal_below, 0.6);
  CHECK(next.win == oracle::relative(oracle::normal_below((-6 - margin) / sd), 1e-12));
  CHECK(match_quality({{before[0]}, {before[1]}}) ==
        oracle::relative(std::sqrt(other / (other + 89)) * std::exp(-18 / (other + 89)), 1e-12));
  CHECK(match_quality({{{25, 8, 25.0 / 6}}, {{31, 5}}}) ==
        oracle::relative(std::sqrt(noise / (noise + 89)) * std::exp(-18 / (noise + 89)), 1e-12));
}

TEST_CASE("rating: several players and ties are near the exact posterior") {
  constexpr double kTolerance = 0.02;  // error of EP, in standard deviations
  for (const auto& draws : std::vector<std::vector<bool>>{
           {false, false}, {true, false}, {true, true}, {false, true, false}, std::vector<bool>(7, false)}) {
    std::vector<Skill> before;
    Game game;
    double rank = 0;
    for (std::size_t i = 0; i <= draws.size(); ++i) {
      before.push_back({25 + 2.0 * std::sin(3.0 * static_cast<double>(i)), 7 + std::cos(static_cast<double>(i))});
      rank += i > 0 && !draws[i - 1] ? 1 : 0;
      game.teams.push_back({{static_cast<std::uint32_t>(i)}, rank});
    }
    const auto expected = after_chain(before, draws, {});
    std::ranges::reverse(game.teams);  // the order of the list does not matter
    Rating rating(before);
    const Report report = rating.play(game);
    CHECK(report.converged());
    for (std::size_t i = 0; i < before.size(); ++i) check_same(rating.skills()[i], expected[i], kTolerance);
  }
}

TEST_CASE("rating: a season of two players is near the exact posterior") {
  // Only the difference of skills changes; their sum is as before.
  const std::vector<Game> games{duel(0, 1), duel(0, 1), duel(1, 0), duel(0, 1, true), duel(0, 1)};
  const RatingOptions options{.drift_sd = 0};
  double mass = 0, first = 0, second = 0;
  for (double d = -80; d <= 80; d += 0.01) {
    const double noise = std::sqrt(2.0) * options.performance_sd;
    const auto below = [&](double at) { return oracle::normal_below(at / noise); };
    const double win = below(d - kMargin), loss = below(-d - kMargin), draw = below(kMargin - d) - below(-kMargin - d);
    const double density = std::exp(-0.25 * d * d / (options.sd * options.sd)) * win * win * win * loss * draw;
    mass += density, first += density * d, second += density * d * d;
  }
  const double mean = first / mass, variance = second / mass - mean * mean;
  const Season season = rate_season(games, 2, options);
  CHECK(season.report.converged());
  CHECK(std::abs(season.skills[0].mean - season.skills[1].mean - mean) < 0.005 * std::sqrt(variance));
  const double found = season.skills[0].sd * season.skills[0].sd + season.skills[1].sd * season.skills[1].sd -
                       2 * season.covariance(0, 1);
  CHECK(found == oracle::relative(variance, 0.01));
  CHECK(season.skills[0].mean + season.skills[1].mean == oracle::relative(50, 1e-9));
}

TEST_CASE("rating: a sweep reaches all games of a drifting skill, however many there are") {
  // One player against a hundred others, once each: no loops.
  std::vector<Game> games;
  for (std::uint32_t i = 1; i <= 100; ++i) games.push_back(i % 3 == 0 ? duel(i, 0) : duel(0, i));
  const RatingOptions options{.drift_sd = 0.5};
  const Season sweeps = rate_season(games, 101, options, SeasonSolver::by_sweeps);
  const Season joint = rate_season(games, 101, options, SeasonSolver::jointly);
  CHECK(sweeps.report.converged());
  CHECK(sweeps.report.sweeps < 60);  // one game per sweep would need a hundred sweeps from end to end
  REQUIRE(sweeps.history.size() == 200);
  for (std::size_t i = 0; i < sweeps.history.size(); ++i) {
    CHECK(sweeps.history[i].player == joint.history[i].player);
    CHECK(sweeps.history[i].game == i / 2);
    check_same(sweeps.history[i].skill, joint.history[i].skill, 1e-5);
  }
  // Later games inform earlier skills here, and do not when games are rated one by one.
  Rating rating(101, options);
  rating.play(games[0]);
  CHECK(sweeps.history[0].skill.sd < rating.skills()[0].sd);
}

TEST_CASE("rating: a season with loops by sweeps is near the joint solution") {
  for (const double drift : {0.0, 0.5}) {
    const auto games = random_duels(40, 400, 7);
    const RatingOptions options{.drift_sd = drift};
    const Season sweeps = rate_season(games, 40, options, SeasonSolver::by_sweeps);
    const Season joint = rate_season(games, 40, options);
    CHECK(sweeps.report.converged());
    CHECK(joint.report.joint.has_value());
    CHECK(joint.report.converged());
    for (std::uint32_t a = 0; a < 40; ++a) {
      CHECK(std::abs(sweeps.skills[a].mean - joint.skills[a].mean) < 0.05 * joint.skills[a].sd);
      CHECK(sweeps.skills[a].sd <= 1.001 * joint.skills[a].sd);
      const std::uint32_t first[] = {a}, second[] = {(a + 1) % 40};
      const Chances one = chances(sweeps, first, second, options), other = chances(joint, first, second, options);
      CHECK(std::abs(one.win - other.win) < 0.02);
      CHECK(one.win + one.draw + one.loss == oracle::relative(1, 1e-12));
    }
  }
}

TEST_CASE("rating: equal and certain players draw with the given probability") {
  const RatingOptions options{.drift_sd = 0, .draw_probability = 0.3};
  const Skill sure{30, 0};
  CHECK(chances(sure, sure, options).draw == oracle::relative(0.3, 1e-12));
  const std::vector<Skill> team(3, sure);
  CHECK(chances(team, team, options).draw == oracle::relative(0.3, 1e-12));
  const Chances uneven = chances({40, 3}, {25, 2}, {.draw_probability = 0});
  const double sd = std::sqrt(9 + 4 + 2 * (25.0 / 6 * 25 / 6 + 25.0 / 300 * 25 / 300));
  CHECK(uneven.win == oracle::relative(oracle::normal_below(15 / sd), 1e-12));
  CHECK(uneven.draw == 0);
  // A very improbable draw keeps its digits.
  const double noise = 2 * 25.0 / 6 * 25 / 6, margin = std::sqrt(noise) * oracle::quantile(oracle::normal_below, 0.65);
  const auto cdf = [&](double x) { return oracle::normal_below(x / std::sqrt(noise)); };
  for (const double far : {60.0, -60.0})
    CHECK(chances({far, 0}, {0, 0}, options).draw == oracle::relative(cdf(margin - 60) - cdf(-margin - 60), 1e-9));
}

TEST_CASE("rating: very improbable upsets stay finite") {
  for (const double distance : {30.0, 1000.0, 1e6})
    for (const bool is_draw : {false, true}) {
      Rating rating(std::vector<Skill>{{distance, 1}, {0, 1}, {0, 1}});
      const Report duel_report = rating.play(duel(1, 0, is_draw));
      CHECK(duel_report.faults == 0);
      rating.play({{{{1, 2}, 1}, {{0}, 2}}});
      rating.play({{{{2}, 1}, {{1}, 2}, {{0}, 3}}});
      for (const Skill& skill : rating.skills()) {
        CHECK(std::isfinite(skill.mean));
        CHECK(skill.sd > 0);
        CHECK(skill.sd <= 1.2);
      }
      CHECK(rating.skills()[0].mean < distance);
      const Chances odds = chances(rating.skills()[0], rating.skills()[1]);
      CHECK(odds.win >= 0);
      CHECK(odds.win <= 1);
    }
  // A season in which the same player wins a thousand times, and then loses.
  std::vector<Game> games(300, duel(0, 1));
  games.push_back(duel(1, 0));
  const Season season = rate_season(games, 2);
  CHECK(season.report.converged());
  for (const Skill& skill : season.skills) CHECK(std::isfinite(skill.mean));
}

// The winner was behind by x standard deviations of the difference. By Mills' ratio the difference then moves by x +
// 1/x - 2/x^3 + 10/x^5 - ... of them, and 1/x^2 - 6/x^4 + ... of its variance remains.
TEST_CASE("rating: upsets of the public suite are those of the truncated normal") {
  struct Player {
    Skill before, published;
  };
  const Skill usual{25, 25.0 / 3};
  for (const auto& [winner, loser] : std::vector<std::pair<Player, Player>>{
           {{{-323.263, 2.965}, {-273.361, 2.683}}, {{-48.441, 2.19}, {-75.683, 2.08}}},
           {{usual, {415.298, 6.455}}, {{1000, usual.sd}, {609.702, 6.455}}},
           {{usual, {400016.896, 6.455}}, {{1e6, usual.sd}, {600008.104, 6.455}}}}) {
    Rating rating(std::vector<Skill>{winner.before, loser.before});
    CHECK(rating.play(duel(0, 1)).faults == 0);
    const auto spread = [](const Skill& s) { return s.sd * s.sd + std::pow(25.0 / 300, 2); };
    const double c = std::sqrt(spread(winner.before) + spread(loser.before) + 2 * std::pow(25.0 / 6, 2)),
                 x = (loser.before.mean - winner.before.mean + kMargin) / c, rest = std::pow(x, -2),
                 moves = (x + (1 - (2 - 10 * rest) * rest) / x) / c, narrows = (1 - rest + 6 * rest * rest) / (c * c);
    for (const bool won : {true, false}) {
      const auto& [before, published] = won ? winner : loser;
      const Skill& found = rating.skills()[won ? 0 : 1];
      const double s = spread(before);
      CHECK(found.mean == oracle::relative(before.mean + (won ? s : -s) * moves, 1e-9));
      CHECK(found.sd == oracle::relative(std::sqrt(s - s * s * narrows), 1e-6));
      CHECK(std::abs(found.mean - published.mean) < std::max(0.5, 2e-5 * found.mean));  // the suite's own comparison
      CHECK(std::abs(found.sd - published.sd) < 1e-3);
    }
  }
}

TEST_CASE("rating: if the joint solution does not converge, sweeps do") {
  // Nearly impossible draws, between players whose performances hardly vary.
  std::vector<Game> games;
  for (int i = 0; i < 12; ++i) games.push_back(duel(i % 2 == 0 ? 0 : 1, i % 2 == 0 ? 1 : 0, i % 3 == 0));
  RatingOptions options{.performance_sd = 0.0029, .drift_sd = 0.72, .draw_probability = 1e-6};
  for (options.sd = 2.4; options.sd < 3; options.sd *= 1.03) CHECK(rate_season(games, 2, options).report.converged());
  for (const SkillThen& then : rate_season(games, 2, options).history) CHECK(std::isfinite(then.skill.mean));
}

TEST_CASE("rating: a player without games keeps the prior, and no games are a season") {
  const std::vector<Game> games{duel(0, 2)};
  for (const double drift : {0.0, 0.1}) {
    const Season season = rate_season(games, 4, {.drift_sd = drift});
    CHECK(season.skills[3].mean == 25);
    CHECK(season.skills[3].sd == oracle::relative(25.0 / 3, 1e-12));
    CHECK(season.covariance(0, 3) == doctest::Approx(0));
  }
  CHECK(rate_season({}, 3).skills.size() == 3);
}

TEST_CASE("rating: wrong games and options are refused") {
  const auto refused = [](const Game& game, const RatingOptions& options, const char* why) {
    CHECK_THROWS_WITH_AS(rate_season(std::span(&game, 1), 3, options), doctest::Contains(why), Error);
    Rating rating(3);
    if (options.draw_probability == 0.1 && options.sd > 0)
      CHECK_THROWS_WITH_AS(rating.play(game), doctest::Contains(why), Error);
  };
  refused({}, {}, "no team");
  refused({{{{0}, 1}}}, {}, "a single team");
  refused({{{{0}, 1}, {{}, 2}}}, {}, "has no players");
  refused({{{{0}, 1}, {{3}, 2}}}, {}, "player 3 is not among the 3");
  refused({{{{0}, 1}, {{0}, 2}}}, {}, "appears twice");
  refused({{{{0, 1}, 1, {1}}, {{2}, 2}}}, {}, "1 shares for 2 players");
  refused({{{{0}, 1, {-0.5}}, {{2}, 2}}}, {}, "share is -0.5");
  refused({{{{0}, 1, {0.0}}, {{2}, 2}}}, {}, "all players of a team have the share 0");
  CHECK_THROWS_WITH_AS(Rating(3, {.priors = {{25, 8}}}), doctest::Contains("1 priors are given for 3 players"), Error);
  refused({{{{0}, std::nan("")}, {{2}, 2}}}, {}, "rank nan");
  refused({{{{0}, 1}, {{2}, 1}}}, {.draw_probability = 0}, "ends in a draw");
  refused({{{{0}, 1}, {{2}, 2}}}, {.draw_probability = 1}, "probability of a draw is 1");
  refused({{{{0}, 1}, {{2}, 2}}}, {.sd = 0}, "standard deviation of a skill is 0");
  CHECK_THROWS_WITH_AS(Rating(std::vector<Skill>{{25, -1}}),
                       doctest::Contains("standard deviation of a player's skill is -1"), Error);
  const Season season = rate_season(std::vector<Game>{{{{{0}, 1}, {{1}, 2}}}}, 2);
  const std::vector<std::uint32_t> nobody, one{0}, other{2};
  CHECK_THROWS_WITH_AS((void)chances(season, one, nobody), doctest::Contains("a team has no players"), Error);
  CHECK_THROWS_WITH_AS((void)chances(std::span<const Skill>(), season.skills), doctest::Contains("no players"), Error);
  CHECK_THROWS_WITH_AS((void)chances(season, one, other), doctest::Contains("player 2 is not among the 2"), Error);
  CHECK_THROWS_WITH_AS((void)season.covariance(0, 2), doctest::Contains("player 2 is not among the 2"), Error);
  // A refused game does not count: the next one is the first, and may have a time.
  Rating rating(3);
  CHECK_THROWS_AS(rating.play({}), Error);
  CHECK_THROWS_WITH_AS(rating.play({{{{0}, 1}, {{2}, 2}}, std::nan("")}), doctest::Contains("game 1: its time is nan"),
                       Error);
  for (const double time : {1.0, 2.0, 3.0}) (void)rating.play({{{{0}, 1}, {{2}, 2}}, time});
  CHECK_THROWS_WITH_AS(rating.play({{{{0}, 1}, {{2}, 2}}, 2.5}), doctest::Contains("game 4: its time is 2.5"), Error);
}

TEST_CASE("rating: a season whose results are nearly contradictions is not called settled when it is not") {
  // Hardly any noise: duels in circles and draws make almost every season impossible.
  std::vector<Game> games = random_duels(8, 60, 3);
  for (std::size_t g = 0; g < games.size(); g += 5) games[g].teams[1].rank = games[g].teams[0].rank;
  const std::pair<RatingOptions, bool> seasons[] = {{{.performance_sd = 1e-6, .draw_probability = 1e-9}, false},
                                                    {{.performance_sd = 1e-3}, true}};
  for (const auto& [options, settles] : seasons) {
    const Season season = rate_season(games, 8, options);
    CAPTURE(season.report.line());
    for (const Skill& skill : season.skills) {
      CHECK(std::isfinite(skill.mean));
      CHECK(skill.sd <= 25.0 / 3 * 1.01);
    }
    const std::uint32_t sides[] = {0, 1};
    const Chances next = chances(season, std::span(sides, 1), std::span(sides + 1, 1), options);
    CHECK(next.win + next.draw + next.loss == doctest::Approx(1));
    CHECK(season.report.converged() == settles);
  }
}

TEST_CASE("rating: skills drift with the time between games") {
  // Two games 4 apart equal two games with twice the drift, except for the drift before the first.
  constexpr double kDrift = 0.7;
  RatingOptions timed, plain;
  timed.drift_sd = kDrift, plain.drift_sd = 2 * kDrift;
  plain.sd = std::sqrt(timed.sd * timed.sd - plain.drift_sd * plain.drift_sd);
  const std::vector<Game> without{duel(0, 1), duel(1, 0)};
  std::vector<Game> with = without;
  with[0].time = 10, with[1].time = 14;
  for (const SeasonSolver solver : {SeasonSolver::jointly, SeasonSolver::by_sweeps}) {
    const Season a = rate_season(with, 2, timed, solver), b = rate_season(without, 2, plain, solver);
    for (std::size_t i = 0; i < 2; ++i) check_same(a.skills[i], b.skills[i], 1e-6);
  }
  Rating one(2, timed), other(2, plain);
  for (std::size_t g = 0; g < 2; ++g) (void)one.play(with[g]), (void)other.play(without[g]);
  for (std::size_t i = 0; i < 2; ++i) check_same(one.skills()[i], other.skills()[i], 1e-9);
  // Games at one time have no drift between them.
  with[1].time = 10;
  RatingOptions still = timed;
  still.drift_sd = 0;
  const Season at_once = rate_season(with, 2, timed), never = rate_season(without, 2, still);
  for (std::size_t i = 0; i < 2; ++i) check_same(at_once.skills[i], never.skills[i], 1e-4);
  with[1].time = 9;
  CHECK_THROWS_WITH_AS((void)rate_season(with, 2, timed),
                       "game 2: its time is 9, and the one before it has 10; give games in the order of time", Error);
  with[1].time.reset();
  CHECK_THROWS_AS((void)rate_season(with, 2, timed), Error);
}

TEST_CASE("rating: priors of single players, and players who join later") {
  const std::vector<Game> games{duel(0, 1), duel(1, 2)};
  const std::vector<Skill> priors{{30, 3}, {25, 8}, {20, 1}};
  for (const double drift : {0.0, 0.5}) {
    RatingOptions options;
    options.drift_sd = drift;
    Rating known(priors, options), joined(0, options);
    options.priors = priors;
    Rating rating(3, options);
    const std::span<const Game> first(games.data(), 1);
    CHECK((joined.join(priors[0]) == 0 && joined.join(priors[1]) == 1));
    (void)known.play(games[0]), (void)rating.play(games[0]), (void)joined.play(games[0]);
    CHECK(joined.join(priors[2]) == 2);  // after a game
    const Season season = rate_season(first, 3, options, SeasonSolver::by_sweeps);
    for (std::size_t i = 0; i < 3; ++i) check_same(rating.skills()[i], known.skills()[i], 1e-12);
    for (std::size_t i = 0; i < 3; ++i) check_same(joined.skills()[i], known.skills()[i], 1e-12);
    for (std::size_t i = 0; i < 3; ++i) check_same(season.skills[i], known.skills()[i], 1e-6);
  }
}
