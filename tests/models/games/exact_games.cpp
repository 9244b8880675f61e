#include "tests/models/games/exact_games.h"

#include <algorithm>
#include <cmath>

#include "tests/oracles/distributions.h"

namespace dma::oracle {

namespace {

double window(double variance, const RatingOptions& options) {
  return std::sqrt(variance) * quantile(normal_below, 0.5 + options.draw_probability / 2);
}

// Posterior moments of N(mean, variance) restricted to `inside`, by a fine sum.
Skill cut_moments(double mean, double variance, double low, double high) {
  const double sd = std::sqrt(variance), from = std::max(low, mean - 12 * sd), to = std::min(high, mean + 12 * sd);
  constexpr int kSteps = 200000;  // the midpoint rule errs by its square
  double mass = 0, first = 0, second = 0;
  for (int i = 0; i < kSteps; ++i) {
    const double x = from + (to - from) * (i + 0.5) / kSteps, u = (x - mean) / sd, density = std::exp(-0.5 * u * u);
    mass += density, first += density * x, second += density * x * x;
  }
  return {first / mass, std::sqrt(second / mass - first / mass * first / mass)};
}

}  // namespace

double draw_window(const RatingOptions& options) {
  return window(2 * options.performance_sd * options.performance_sd, options);
}

// The cut applies to the difference, to which each skill contributes with independent noise.
std::vector<Skill> after_two_teams(const std::vector<Skill>& skills, const Game& game, const RatingOptions& options) {
  struct Term {
    std::uint32_t player;
    double weight;
  };
  std::vector<Term> terms;
  for (const Team& team : game.teams)
    for (std::size_t i = 0; i < team.players.size(); ++i)
      terms.push_back(
          {team.players[i], (&team == &game.teams[0] ? 1 : -1) * (team.shares.empty() ? 1 : team.shares[i])});
  double mean = 0, variance = 0, noise = 0;
  const auto prior_variance = [&](std::uint32_t p) {
    return skills[p].sd * skills[p].sd + options.drift_sd * options.drift_sd;
  };
  for (const Term& t : terms) {
    mean += t.weight * skills[t.player].mean, variance += t.weight * t.weight * prior_variance(t.player);
    noise += std::pow(t.weight * skills[t.player].performance_sd.value_or(options.performance_sd), 2);
  }
  variance += noise;
  const double margin = window(noise, options);
  const bool is_draw = game.teams[0].rank == game.teams[1].rank, first_won = game.teams[0].rank < game.teams[1].rank;
  const Skill cut = is_draw     ? cut_moments(mean, variance, -margin, margin)
                    : first_won ? cut_moments(mean, variance, margin, 1e9)
                                : cut_moments(mean, variance, -1e9, -margin);
  std::vector<Skill> after = skills;
  for (const Term& t : terms) {
    const double v = prior_variance(t.player), gain = t.weight * v / variance;
    after[t.player] = {skills[t.player].mean + gain * (cut.mean - mean),
                       std::sqrt(v - gain * t.weight * v + gain * gain * cut.sd * cut.sd)};
  }
  return after;
}

// Performances on a grid, in the order of ranks: each depends only on its neighbours, so running sums along the grid
// give every exact posterior.
std::vector<Skill> after_chain(const std::vector<Skill>& skills, const std::vector<bool>& draws,
                               const RatingOptions& options) {
  const double margin = draw_window(options);
  constexpr std::size_t kPoints = 4001;
  const double low = -60, step = 170.0 / (kPoints - 1), noise = options.performance_sd * options.performance_sd;
  const std::size_t players = skills.size();
  const auto x = [&](std::size_t i) { return low + step * static_cast<double>(i); };
  using Grid = std::vector<double>;
  std::vector<Grid> prior(players, Grid(kPoints)), down = prior, up = prior;
  for (std::size_t p = 0; p < players; ++p)
    for (std::size_t i = 0; i < kPoints; ++i) {
      const double v = skills[p].sd * skills[p].sd + options.drift_sd * options.drift_sd + noise,
                   d = x(i) - skills[p].mean;
      prior[p][i] = std::exp(-0.5 * d * d / v);
    }
  // From one player to a neighbour: the integral of f over admissible neighbours of x, interpolated linearly.
  const auto passed = [&](const Grid& f, double from, double to) {
    Grid sums(kPoints), out(kPoints);
    for (std::size_t i = 1; i < kPoints; ++i) sums[i] = sums[i - 1] + 0.5 * step * (f[i - 1] + f[i]);
    const auto up_to = [&](double at) {
      const double place = std::clamp((at - low) / step, 0.0, kPoints - 1.000001);
      const auto i = static_cast<std::size_t>(place);
      const double part = place - static_cast<double>(i), value = f[i] + part * (f[i + 1] - f[i]);
      return sums[i] + 0.5 * step * part * (f[i] + value);
    };
    for (std::size_t i = 0; i < kPoints; ++i) out[i] = up_to(x(i) + to) - up_to(x(i) + from);
    return out;
  };
  const double far = 1e6;
  const auto times = [](Grid a, const Grid& b) {
    for (std::size_t i = 0; i < a.size(); ++i) a[i] *= b[i];
    return a;
  };
  std::fill(down[0].begin(), down[0].end(), 1.0), std::fill(up[players - 1].begin(), up[players - 1].end(), 1.0);
  for (std::size_t p = 1; p < players; ++p)
    down[p] = passed(times(prior[p - 1], down[p - 1]), draws[p - 1] ? -margin : margin, draws[p - 1] ? margin : far);
  for (std::size_t p = players - 1; p-- > 0;)
    up[p] = passed(times(prior[p + 1], up[p + 1]), draws[p] ? -margin : -far, draws[p] ? margin : -margin);
  std::vector<Skill> after;
  for (std::size_t p = 0; p < players; ++p) {
    const Grid density = times(times(prior[p], down[p]), up[p]);
    double mass = 0, first = 0, second = 0;
    for (std::size_t i = 0; i < kPoints; ++i)
      mass += density[i], first += density[i] * x(i), second += density[i] * x(i) * x(i);
    const double mean = first / mass, variance = second / mass - mean * mean;
    const double v = skills[p].sd * skills[p].sd + options.drift_sd * options.drift_sd, gain = v / (v + noise);
    after.push_back(
        {skills[p].mean + gain * (mean - skills[p].mean), std::sqrt(v - gain * v + gain * gain * variance)});
  }
  return after;
}

}  // namespace dma::oracle
