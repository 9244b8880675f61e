#include "models/games/rating.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/compile/compile.h"
#include "engine/run/run.h"
#include "engine/support/text.h"
#include "factors/authoring/normal.h"
#include "factors/standard_registry.h"
#include "models/games/rating_graph.h"
#include "schedules/schedules.h"

namespace dma {

namespace {

constexpr Iteration kUntilTheGameSettles{.tolerance = 1e-8, .limit = 10000};
constexpr const char* kNoPlayers = "rating: a team has no players; at least one is expected";
constexpr std::size_t kMostForms = 1000;  // compiled forms of games in the cache

// Key of a game's graph: ranks from 0 without gaps, and the players' fractions.
std::vector<double> form_of(const Game& game) {
  std::vector<double> form, ranks;
  for (const Team& team : game.teams) ranks.push_back(team.rank);
  std::ranges::sort(ranks);
  for (const Team& team : game.teams) {
    form.push_back(static_cast<double>(std::ranges::lower_bound(ranks, team.rank) - ranks.begin()));
    form.push_back(static_cast<double>(team.players.size()));
    for (std::size_t i = 0; i < team.players.size(); ++i) form.push_back(team.shares.empty() ? 1 : team.shares[i]);
  }
  return form;
}

// The same game with players 0, 1, 2, ...
Game renumbered(Game game) {
  std::uint32_t next = 0;
  for (Team& team : game.teams)
    for (std::uint32_t& player : team.players) player = next++;
  return game;
}

// Chances if the first side's skills are ahead by this much in sum, with this variance and that of the performances.
Chances chances_of(double ahead, double variance, double noise, std::size_t players, const RatingOptions& options) {
  check_rating_options(options);
  const double drift = static_cast<double>(players) * options.drift_sd * options.drift_sd;
  const double margin = draw_margin(noise, options), sd = std::sqrt(variance + noise + drift);
  const auto below = [sd](double x) { return normal::distribution(x / sd); };
  const double behind = -std::abs(ahead);  // in the lower tail a difference of two probabilities keeps its digits
  return {below(ahead - margin), below(behind + margin) - below(behind - margin), below(-ahead - margin)};
}

// Options for a single game of these players.
RatingOptions without_drift(RatingOptions options, std::vector<Skill> players) {
  options.drift_sd = 0;
  options.priors = std::move(players);
  return options;
}

}  // namespace

struct Rating::Solver {
  explicit Solver(const Game& game, std::size_t players, const RatingOptions& options)
      : graph(std::span(&game, 1), players, options),
        plan(compile(graph.graph, game.teams.size() == 2 ? forward_backward() : sequential(kUntilTheGameSettles),
                     standard_registry(), {.method = "ep"})),
        state(plan) {}
  RatingGraph graph;
  Plan plan;
  State state;
};

Rating::Rating(std::size_t players, const RatingOptions& options)
    : Rating(options.priors.empty() ? std::vector<Skill>(players, {options.mean, options.sd}) : options.priors,
             options) {
  if (skills_.size() != players)
    fail("rating: {} priors are given for {} players; one for each is expected, or none", skills_.size(), players);
}
Rating::Rating(std::vector<Skill> skills, const RatingOptions& options)
    : options_(options), skills_(std::move(skills)), last_times_(skills_.size()) {
  check_rating_options(options);
  check_skills(skills_);
}
Rating::~Rating() = default;

std::uint32_t Rating::join(const Skill& skill) {
  check_skills(std::span(&skill, 1));
  skills_.push_back(skill);
  last_times_.emplace_back();
  return static_cast<std::uint32_t>(skills_.size() - 1);
}

Report Rating::play(const Game& game) {
  check_game(game, played_ + 1, skills_.size(), options_);
  const Game both[] = {{{}, now_}, {{}, game.time}};
  check_times(played_ == 0 ? std::span(both).last(1) : std::span(both), std::max<std::size_t>(played_, 1));
  ++played_;
  now_ = game.time;
  if (solvers_.size() > kMostForms) solvers_.clear();
  std::vector<std::uint32_t> players;
  std::vector<double> means, variances, form = form_of(game);
  std::vector<Skill> own;
  for (const Team& team : game.teams)
    for (const std::uint32_t player : team.players) {
      const Skill& skill = skills_[player];
      players.push_back(player);
      own.push_back(skill);
      form.push_back(performance_variance(skill, options_));
      means.push_back(skill.mean);
      std::optional<double>& last = last_times_[player];
      const double gap = !game.time ? 1 : last ? *game.time - *last : 0;
      last = game.time;
      variances.push_back(skill.sd * skill.sd + gap * options_.drift_sd * options_.drift_sd);
    }
  auto& solver = solvers_[form];
  if (!solver)
    solver = std::make_unique<Solver>(renumbered(game), players.size(), without_drift(options_, std::move(own)));
  solver->state.set_parameter(solver->graph.prior, "mean", means);
  solver->state.set_parameter(solver->graph.prior, "variance", variances);
  const Report report = run(solver->plan, solver->state);
  const Belief belief = solver->state.belief(solver->graph.skill);
  for (std::size_t i = 0; i < players.size(); ++i) {
    Skill& skill = skills_[players[i]];
    skill.mean = belief.mean(i);
    skill.sd = belief.sd(i);
  }
  return report;
}

Chances chances(std::span<const Skill> first, std::span<const Skill> second, const RatingOptions& options) {
  if (first.empty() || second.empty()) fail(kNoPlayers);
  double ahead = 0, variance = 0, noise = 0;
  const auto add = [&](const Skill& skill, double sign) {
    ahead += sign * skill.mean;
    variance += skill.sd * skill.sd;
    noise += performance_variance(skill, options);
  };
  for (const Skill& skill : first) add(skill, 1);
  for (const Skill& skill : second) add(skill, -1);
  return chances_of(ahead, variance, noise, first.size() + second.size(), options);
}

Chances chances(const Season& season, std::span<const std::uint32_t> first, std::span<const std::uint32_t> second,
                const RatingOptions& options) {
  if (first.empty() || second.empty()) fail(kNoPlayers);
  std::vector<std::pair<std::uint32_t, double>> all;
  for (const std::uint32_t player : first) all.push_back({player, 1});
  for (const std::uint32_t player : second) all.push_back({player, -1});
  double ahead = 0, variance = 0, noise = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto [player, sign] = all[i];
    if (player >= season.skills.size())
      fail("rating: player {} is not among the {} of the season", player, season.skills.size());
    const Skill& skill = season.skills[player];
    ahead += sign * skill.mean;
    variance += skill.sd * skill.sd;
    noise += performance_variance(skill, options);
    for (std::size_t j = 0; j < i; ++j) variance += 2 * sign * all[j].second * season.covariance(player, all[j].first);
  }
  return chances_of(ahead, std::max(0.0, variance), noise, all.size(), options);
}

// With A the differences of adjacent teams, B the variances of performances and S those of skills,
//   q = sqrt(|A'BA| / |A'(B + S)A|) exp(-1/2 (A'm)' (A'(B + S)A)^-1 A'm)
double match_quality(const std::vector<std::vector<Skill>>& teams, const RatingOptions& options) {
  check_rating_options(options);
  if (teams.size() < 2)
    fail("rating: the quality of a match of {} teams is asked for; two or more are expected", teams.size());
  // By team: its mean skill, its noise variance, and that plus the variance of its skills.
  std::vector<double> mean, known, all;
  for (const std::vector<Skill>& team : teams) {
    mean.push_back(0);
    known.push_back(0);
    all.push_back(0);
    if (team.empty()) fail(kNoPlayers);
    for (const Skill& skill : team) {
      const double noise = performance_variance(skill, options);
      mean.back() += skill.mean;
      known.back() += noise;
      all.back() += noise + skill.sd * skill.sd;
    }
  }
  // Adjacent teams only: the matrices are tridiagonal, and are eliminated from the first row on.
  double log_quality = 0, pivot_known = 0, pivot_all = 0, rest = 0;
  for (std::size_t i = 0; i + 1 < teams.size(); ++i) {
    const double by_known = i == 0 ? 0 : known[i] / pivot_known, by_all = i == 0 ? 0 : all[i] / pivot_all;
    rest = mean[i] - mean[i + 1] + by_all * rest;
    pivot_known = known[i] + known[i + 1] - by_known * known[i];
    pivot_all = all[i] + all[i + 1] - by_all * all[i];
    log_quality += 0.5 * std::log(pivot_known / pivot_all) - 0.5 * rest * rest / pivot_all;
  }
  return std::exp(log_quality);
}

}  // namespace dma
