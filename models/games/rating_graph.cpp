#include "models/games/rating_graph.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>

#include "engine/compile/schedule.h"

namespace dma {

namespace {

// Variance, in units of the prior's, of the drift between the last element of one player and the first of the next: it
// passes no information. The prior of elements without one is as wide.
constexpr double kForgetsAll = 1e30;

constexpr double kNoGap = 1e-9;  // gap between two games at one time, in units of time: a variance must be above 0

constexpr const char* kDrift = "drift";

double share_of(const Team& team, std::size_t i) { return team.shares.empty() ? 1 : team.shares[i]; }

Skill prior_of(std::uint32_t player, const RatingOptions& options) {
  return options.priors.empty() ? Skill{options.mean, options.sd} : options.priors[player];
}

double noise_of(const Team& team, const RatingOptions& options) {
  double sum = 0;
  for (std::size_t i = 0; i < team.players.size(); ++i)
    sum += share_of(team, i) * share_of(team, i) * performance_variance(prior_of(team.players[i], options), options);
  return sum;
}

bool is_whole_player(const Team& team) { return team.players.size() == 1 && share_of(team, 0) == 1; }

// Teams by rank, the first place first.
std::vector<std::size_t> by_rank(const Game& game) {
  std::vector<std::size_t> order(game.teams.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return game.teams[i].rank; });
  return order;
}

}  // namespace

// Factors are visited in the order of the data flow. A chain's messages depend only on the messages from other factors
// to its skills, so chains whose inputs did not change are skipped: each skill has one message from every other factor,
// at a constant place.
Scheduler season_sweeps(Iteration iteration) {
  const auto make = [iteration](const Flow& flow) {
    Schedule schedule{"season_sweeps", {}, Schedule::Order::repeated, iteration};
    const auto factors = static_cast<std::uint32_t>(flow.factors());
    const auto visit = [&](std::uint32_t f, PortSet refresh, PortSet send, int step) {
      if (flow.name(f) == kDrift)
        schedule.chains.push_back({static_cast<std::uint32_t>(schedule.visits.size()), step, {0}});
      schedule.visits.push_back({f, refresh, send & flow.targets(f)});
    };
    for (std::uint32_t f = 0; f < factors; ++f) visit(f, flow.inputs(f), flow.outputs(f), 1);
    for (std::uint32_t f = factors; f-- > 0;) visit(f, flow.outputs(f), flow.inputs(f), -1);
    return schedule;
  };
  return {"season_sweeps", make, iteration.damping == 0};
}

RatingGraph::RatingGraph(std::span<const Game> games, std::size_t players, const RatingOptions& options) {
  for (std::size_t g = 0; g < games.size(); ++g)
    for (const Team& team : games[g].teams)
      for (const std::uint32_t player : team.players) appearances.push_back({g, player, 0, 0});
  add_skills(games, players, options);
  add_teams(games);
  add_results(games, options);
}

void RatingGraph::add_skills(std::span<const Game> games, std::size_t players, const RatingOptions& options) {
  const std::size_t count = appearances.size();
  std::vector<std::uint32_t> order(count), player_of;
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::stable_sort(order, {}, [&](std::uint32_t i) { return appearances[i].player; });
  const bool drifts = options.drift_sd > 0;
  for (std::uint32_t k = 0; k < count; ++k) {
    Appearance& a = appearances[order[k]];
    a.performance = k;
    a.skill = drifts ? k : a.player;
    player_of.push_back(a.player);
  }
  performance_ = graph.variable("performance", count);
  const double variance = options.sd * options.sd, drift = options.drift_sd * options.drift_sd;
  std::vector<double> noises;
  for (const std::uint32_t player : player_of)
    noises.push_back(performance_variance(prior_of(player, options), options));
  const bool is_one = std::ranges::count(noises, noises[0]) == std::ssize(noises);
  const ParameterValue noise = is_one ? ParameterValue(noises[0]) : ParameterValue(noises);
  if (!drifts) {
    std::vector<double> means, variances;
    for (std::uint32_t player = 0; player < players; ++player) {
      const Skill of = prior_of(player, options);
      means.push_back(of.mean);
      variances.push_back(of.sd * of.sd);
    }
    skill = graph.variable("skill", players);
    prior = graph.factor("gaussian_prior", {skill}, {{"mean", means}, {"variance", variances}});
    graph.factor("gaussian_noise", {gather(skill, player_of), performance_}, {{"variance", noise}});
    return;
  }
  std::vector<double> means(count, options.mean), widths(count, kForgetsAll * variance), steps;
  const auto time_of = [&](std::size_t k) { return games[appearances[order[k]].game].time; };
  for (std::size_t k = 0; k < count; ++k) {
    const bool is_first = k == 0 || player_of[k] != player_of[k - 1];
    if (is_first) {
      const Skill of = prior_of(player_of[k], options);
      means[k] = of.mean;
      widths[k] = of.sd * of.sd + (time_of(k) ? 0 : drift);
    }
    if (k == 0) continue;
    const double gap = is_first || !time_of(k) ? 1 : std::max(*time_of(k) - *time_of(k - 1), kNoGap);
    steps.push_back(is_first ? kForgetsAll * variance : drift * gap);
  }
  skill = graph.variable("skill", count);
  prior = graph.factor("gaussian_prior", {skill}, {{"mean", means}, {"variance", widths}});
  if (count > 1) graph.factor("gaussian_noise", {shift(skill), skill}, {{"variance", steps}}, {.name = kDrift});
  graph.factor("gaussian_noise", {skill, performance_}, {{"variance", noise}});
}

void RatingGraph::add_teams(std::span<const Game> games) {
  struct OfOneSize {
    std::vector<std::uint32_t> players, sums;
    std::vector<double> shares;
  };
  std::map<std::size_t, OfOneSize> sizes;
  std::uint32_t sums = 0;
  auto next = appearances.begin();
  for (const Game& game : games)
    for (const Team& team : game.teams) {
      teams_.push_back({!is_whole_player(team), is_whole_player(team) ? next->performance : sums});
      if (is_whole_player(team)) {
        ++next;
        continue;
      }
      OfOneSize& plate = sizes[team.players.size()];
      plate.sums.push_back(sums++);
      for (std::size_t i = 0; i < team.players.size(); ++i, ++next) {
        plate.players.push_back(next->performance);
        plate.shares.push_back(share_of(team, i));
      }
    }
  if (sums == 0) return;
  sums_ = graph.variable("team", sums);
  for (const auto& [size, plate] : sizes)
    graph.factor("sum", {gather(performance_, plate.players), gather(sums_, plate.sums)},
                 {{"coefficients", plate.shares}});
}

// Compares adjacent teams in the order of ranks: one of them is ahead, or neither.
void RatingGraph::add_results(std::span<const Game> games, const RatingOptions& options) {
  struct Results {
    std::vector<std::uint32_t> ahead, behind;
    std::vector<double> margins;
  };
  std::map<std::array<bool, 3>, Results> plates;  // {first is a sum, second is a sum, is a draw}
  std::size_t first = 0;
  for (const Game& game : games) {
    const auto order = by_rank(game);
    for (std::size_t i = 0; i + 1 < order.size(); ++i) {
      const Team &a = game.teams[order[i]], &b = game.teams[order[i + 1]];
      const Performance &ahead = teams_[first + order[i]], &behind = teams_[first + order[i + 1]];
      Results& plate = plates[{ahead.is_sum, behind.is_sum, a.rank == b.rank}];
      plate.ahead.push_back(ahead.element);
      plate.behind.push_back(behind.element);
      plate.margins.push_back(draw_margin(noise_of(a, options) + noise_of(b, options), options));
    }
    first += order.size();
  }
  for (const auto& [form, plate] : plates) {
    const VariableId lead = graph.variable("", plate.ahead.size());
    const auto of = [&](bool is_sum) { return is_sum ? sums_ : performance_; };
    graph.factor("sum", {gather(of(form[0]), plate.ahead), gather(of(form[1]), plate.behind), lead},
                 {{"coefficients", std::vector<double>{1, -1}}});
    if (form[2])
      graph.factor("within", {lead}, {{"margin", plate.margins}});
    else
      graph.factor("greater_than", {lead}, {{"threshold", plate.margins}});
  }
}

}  // namespace dma
