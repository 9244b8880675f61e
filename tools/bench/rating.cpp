// A season of 20,000 games of 1,000 players by sweeps: skills that stay, and that drift.
#include <boost/random/mersenne_twister.hpp>
#include <boost/random/normal_distribution.hpp>
#include <boost/random/uniform_int_distribution.hpp>
#include <cmath>

#include "engine/compile/compile.h"
#include "engine/run/run.h"
#include "factors/standard_registry.h"
#include "models/games/rating_graph.h"
#include "tools/bench/comparison.h"

namespace dma::bench {

namespace {

constexpr std::size_t kSeasonPlayers = 1000, kSeasonGames = 20000;
constexpr int kSeasonSweeps = 10;

std::vector<Game> season_of_duels() {
  boost::random::mt19937_64 random(1);
  boost::random::normal_distribution<double> normal;
  boost::random::uniform_int_distribution<std::uint32_t> any(0, kSeasonPlayers - 1);
  std::vector<double> skills;
  for (std::size_t i = 0; i < kSeasonPlayers; ++i) skills.push_back(25.0 / 3 * normal(random));
  std::vector<Game> games;
  while (games.size() < kSeasonGames) {
    const std::uint32_t a = any(random), b = any(random);
    if (a == b) continue;
    const double ahead = skills[a] - skills[b] + std::sqrt(2.0) * 25 / 6 * normal(random);
    const bool is_draw = std::abs(ahead) < 0.74;
    games.push_back({{{{a}, ahead > 0 || is_draw ? 1.0 : 2.0}, {{b}, ahead < 0 || is_draw ? 1.0 : 2.0}}});
  }
  return games;
}

void season(benchmark::State& bench, Table& table, const std::string& name, double drift_sd) {
  const auto games = season_of_duels();
  const RatingGraph graph(games, kSeasonPlayers, {.drift_sd = drift_sd});
  const Plan plan = compile(graph.graph, season_sweeps({.tolerance = 0, .limit = kSeasonSweeps}), standard_registry(),
                            {.method = "ep"});
  State state(plan);
  // A microsecond a game and sweep.
  time_alone(
      bench, table,
      {.name = name,
       .bound = 1e-3 * kSeasonSweeps * static_cast<double>(kSeasonGames),
       .messages = kSeasonSweeps * static_cast<double>(plan.messages_per_sweep())},
      [&] { run(plan, state, {.diagnose = false}); }, [] {});
}

}  // namespace

void register_rating(Table& table) {
  benchmark::RegisterBenchmark("rating/season", [&](benchmark::State& s) {
    season(s, table, "rating, 20,000 games: 10 sweeps", 0);
  })->UseManualTime();
  benchmark::RegisterBenchmark("rating/drifting", [&](benchmark::State& s) {
    season(s, table, "rating, 20,000 games, drift: 10 sweeps", 25.0 / 300);
  })->UseManualTime();
}

}  // namespace dma::bench
