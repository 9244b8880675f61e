// rate_season: all games at once.
#include <Eigen/Core>
#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "engine/compile/compile.h"
#include "engine/joint/joint.h"
#include "engine/run/run.h"
#include "engine/support/text.h"
#include "factors/standard_registry.h"
#include "models/games/rating_graph.h"

namespace dma {

struct Season::Solved {
  Solved(RatingGraph games, Plan by, std::size_t players)
      : graph(std::move(games)), plan(std::move(by)), state(plan), report(run(plan, state)), last(players) {
    for (const RatingGraph::Appearance& a : graph.appearances) last[a.player] = a.skill;
  }
  RatingGraph graph;
  Plan plan;
  State state;
  Report report;
  std::vector<std::optional<std::uint32_t>> last;  // last element of each player
};

namespace {

constexpr Iteration kUntilTheSeasonSettles{.tolerance = 1e-8, .limit = 10000};
// Graphs that elimination cannot settle have numbers near the limits of a double: rounding then moves messages by up to
// 1e-7.
constexpr Iteration kUntilRounding{.tolerance = 1e-6, .limit = 10000};
constexpr double kMostJointWork = 3e8;  // half a minute at most, on one core

// Approximate number of multiplications in one factorisation: elimination ends with a dense block of the players.
double joint_work(std::span<const Game> games, std::size_t players, const RatingOptions& options) {
  const double width = static_cast<double>(players);
  double appearances = 0;
  for (const Game& game : games)
    for (const Team& team : game.teams) appearances += static_cast<double>(team.players.size());
  return width * width * (options.drift_sd > 0 ? appearances : width);
}

double total_share(const Team& team) {
  return team.shares.empty() ? static_cast<double>(team.players.size())
                             : std::accumulate(team.shares.begin(), team.shares.end(), 0.0);
}

// True if all teams of each game are equally strong for equal skills: their common mean then cancels.
bool are_balanced(std::span<const Game> games) {
  return std::ranges::all_of(games, [](const Game& game) {
    return std::ranges::all_of(game.teams,
                               [&](const Team& team) { return total_share(team) == total_share(game.teams[0]); });
  });
}

std::shared_ptr<const Season::Solved> solve_jointly(std::span<const Game> games, std::size_t players,
                                                    const RatingOptions& options) {
  RatingGraph graph(games, players, options);
  Plan plan = compile(graph.graph, joint(), standard_registry());
  return std::make_shared<Season::Solved>(std::move(graph), std::move(plan), players);
}

std::shared_ptr<const Season::Solved> solve_by_sweeps(std::span<const Game> games, std::size_t players,
                                                      const RatingOptions& options, const Iteration& until) {
  RatingGraph graph(games, players, options);
  Plan plan = compile(graph.graph, season_sweeps(until), standard_registry(), {.method = "ep"});
  return std::make_shared<Season::Solved>(std::move(graph), std::move(plan), players);
}

}  // namespace

double Season::covariance(std::uint32_t a, std::uint32_t b) const {
  if (const std::uint32_t last = std::max(a, b); last >= skills.size())
    fail("rating: player {} is not among the {} of the season", last, skills.size());
  if (!solved || !report.joint || !solved->last[a] || !solved->last[b]) return 0;
  const VariableId skill = solved->graph.skill;
  return JointPosterior(solved->state).covariance(skill, *solved->last[a], skill, *solved->last[b]);
}

Season rate_season(std::span<const Game> games, std::size_t players, const RatingOptions& options,
                   SeasonSolver solver) {
  check_rating_options(options);
  for (std::size_t g = 0; g < games.size(); ++g) check_game(games[g], g + 1, players, options);
  check_times(games);
  if (!options.priors.empty() && options.priors.size() != players)
    fail("rating: {} priors are given for {} players; one for each is expected, or none", options.priors.size(),
         players);
  Season season{
      options.priors.empty() ? std::vector<Skill>(players, {options.mean, options.sd}) : options.priors, {}, {}, {}};
  if (games.empty()) return season;
  // A mean much larger than the standard deviations costs digits.
  RatingOptions around = options;
  if (are_balanced(games)) {
    around.mean = 0;
    for (Skill& prior : around.priors) prior.mean -= options.mean;
  }
  const bool is_small = joint_work(games, players, options) <= kMostJointWork;
  const bool jointly = solver == SeasonSolver::jointly || (solver == SeasonSolver::best && is_small);
  season.solved = jointly ? solve_jointly(games, players, around)
                          : solve_by_sweeps(games, players, around, kUntilTheSeasonSettles);
  if (solver == SeasonSolver::best && jointly && !season.solved->report.converged())
    season.solved = solve_by_sweeps(games, players, around, kUntilRounding);
  season.report = season.solved->report;
  const Belief belief = season.solved->state.belief(season.solved->graph.skill);
  for (const RatingGraph::Appearance& a : season.solved->graph.appearances) {
    Skill& skill = season.skills[a.player];
    skill.mean = options.mean - around.mean + belief.mean(a.skill);
    skill.sd = belief.sd(a.skill);
    season.history.push_back({a.game, a.player, skill});
  }
  return season;
}

}  // namespace dma
