#include "models/series/state_space.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "engine/support/text.h"

namespace dma {

namespace {

void check_variance(const Process& process) {
  for (const Process::Noise& noise : process.noises)
    if (noise.variance && !(*noise.variance > 0 && std::isfinite(*noise.variance)))
      fail("{}: the variance of its {} is {}; a finite number above 0 is expected, or none to have it learned",
           process.name, noise.name, *noise.variance);
}

}  // namespace

std::size_t Process::longest_lag() const {
  std::size_t longest = 0;
  for (const Rule& rule : rules)
    for (const Term& term : rule.terms) longest = std::max(longest, term.lag);
  return longest;
}

Process random_walk(std::optional<double> variance) {
  Process walk{"walk", {"level"}, {{{{0, 0, 1}, {0, 1, -1}}, 0}}, {{"level", variance}}, true};
  check_variance(walk);
  return walk;
}

Process local_trend(std::optional<double> level_variance, std::optional<double> slope_variance) {
  Process trend{"trend",
                {"level", "slope"},
                {{{{0, 0, 1}, {0, 1, -1}, {1, 1, -1}}, 0}, {{{1, 0, 1}, {1, 1, -1}}, 1}},
                {{"level", level_variance}, {"slope", slope_variance, 1, true}},
                true};
  check_variance(trend);
  return trend;
}

// White accelerations integrated over one step: the velocity gains e of variance q; the position gains the mean of the
// old and the new velocity, plus an independent term of variance q / 12.
Process motion(std::optional<double> intensity) {
  Process moving{"motion",
                 {"position", "velocity"},
                 {{{{0, 0, 1}, {0, 1, -1}, {1, 0, -0.5}, {1, 1, -0.5}}, 0, 1.0 / 12}, {{{1, 0, 1}, {1, 1, -1}}, 0}},
                 {{"acceleration", intensity, 1, true}},
                 true};
  check_variance(moving);
  return moving;
}

Process seasonal(std::size_t period, std::optional<double> variance) {
  if (period < 2) fail("seasonal: the period is {}; at least 2 steps are expected", period);
  Process season{"season", {"season"}, {{{}, 0}}, {{"season", variance, 1 / static_cast<double>(period)}}};
  for (std::size_t lag = 0; lag < period; ++lag) season.rules[0].terms.push_back({0, lag, 1});
  season.period = static_cast<double>(period);
  check_variance(season);
  return season;
}

Process fixed_season(double period, std::size_t harmonics) {
  if (!(period >= 2 && period <= kLongestSeason))
    fail("fixed_season: the period is {}; a number of steps from 2 to {} is expected", period, kLongestSeason);
  if (harmonics < 1 || 2 * static_cast<double>(harmonics) > period)
    fail("fixed_season: {} harmonics are given; 1 to {:.0f} are expected for a period of {}", harmonics,
         std::floor(period / 2), period);
  Process season{"season", {"season"}, {}, {}};
  season.period = period, season.harmonics = harmonics;
  return season;
}

std::vector<double> harmonic_rows(double period, std::size_t harmonics, std::size_t length) {
  std::vector<double> rows;
  rows.reserve(2 * harmonics * length);
  for (std::size_t t = 0; t < length; ++t)
    for (std::size_t j = 1; j <= harmonics; ++j) {
      const double turns = std::fmod(static_cast<double>(j * t), period) / period;
      rows.push_back(std::cos(2 * std::numbers::pi * turns));
      rows.push_back(std::sin(2 * std::numbers::pi * turns));
    }
  return rows;
}

Process autoregressive(std::vector<double> coefficients, std::optional<double> variance) {
  if (coefficients.empty()) fail("autoregressive: there are no coefficients; at least one is expected");
  Process process{"autoregressive", {"deviation"}, {{{{0, 0, 1}}, 0}}, {{"deviation", variance}}};
  for (std::size_t lag = 1; lag <= coefficients.size(); ++lag) {
    if (!std::isfinite(coefficients[lag - 1]))
      fail("autoregressive: coefficient {} is {}; a finite number is expected", lag, coefficients[lag - 1]);
    process.rules[0].terms.push_back({0, lag, -coefficients[lag - 1]});
  }
  check_variance(process);
  return process;
}

}  // namespace dma
