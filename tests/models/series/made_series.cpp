#include "tests/models/series/made_series.h"

#include <algorithm>
#include <boost/random/mersenne_twister.hpp>
#include <boost/random/normal_distribution.hpp>
#include <boost/random/poisson_distribution.hpp>
#include <cmath>
#include <limits>
#include <numbers>

namespace dma::oracle {

namespace {

constexpr std::size_t kSeen = 96, kAhead = 12;

// Fills gaps with the value before: forecasts use past values only.
std::vector<double> filled(std::span<const std::optional<double>> values) {
  std::vector<double> y;
  for (const auto& value : values) y.push_back(value ? *value : y.empty() ? 0 : y.back());
  return y;
}

struct HoltWinters {
  double level = 0, slope = 0;
  std::vector<double> season;
  double squares = 0;

  // Starts from the first two seasons: their means, and each step's deviation from its season's.
  HoltWinters(const std::vector<double>& y, std::size_t period, double of_level, double of_slope, double of_season)
      : season(period) {
    double first = 0, second = 0;
    for (std::size_t i = 0; i < period; ++i) first += y[i], second += y[period + i];
    slope = (second - first) / static_cast<double>(period * period);
    level = first / static_cast<double>(period) - slope * 0.5 * static_cast<double>(period + 1);
    for (std::size_t i = 0; i < period && period > 1; ++i)
      season[i] = y[i] - level - slope * static_cast<double>(i + 1);
    for (std::size_t t = 0; t < y.size(); ++t) {
      double& now = season[t % period];
      const double error = y[t] - level - slope - now;
      squares += t < 2 * period ? 0 : error * error;
      level += slope + of_level * error;
      slope += of_level * of_slope * error;
      if (period > 1) now += of_season * (1 - of_level) * error;
    }
  }
};

}  // namespace

std::vector<double> seasonal_naive(std::span<const std::optional<double>> values, std::size_t season,
                                   std::size_t horizon) {
  const std::vector<double> y = filled(values);
  std::vector<double> ahead;
  for (std::size_t h = 0; h < horizon; ++h) ahead.push_back(y[y.size() - season + h % season]);
  return ahead;
}

std::vector<double> holt_winters(std::span<const std::optional<double>> values, std::size_t season,
                                 std::size_t horizon) {
  const std::vector<double> y = filled(values);
  std::optional<HoltWinters> best;
  const double grid[] = {0.01, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 0.99}, slopes[] = {0, 0.01, 0.03, 0.1, 0.3},
               seasons[] = {0.01, 0.1, 0.3, 0.6};
  for (const double a : grid)
    for (const double b : slopes)
      for (const double c : seasons) {
        HoltWinters tried(y, season, a, b, c);
        if (!best || tried.squares < best->squares) best = std::move(tried);
      }
  std::vector<double> ahead;
  for (std::size_t h = 0; h < horizon; ++h)
    ahead.push_back(best->level + best->slope * static_cast<double>(h + 1) + best->season[(y.size() + h) % season]);
  return ahead;
}

std::vector<MadeSeries> made_series(std::uint64_t seed) {
  boost::random::mt19937_64 random(seed);
  boost::random::normal_distribution<double> draw;
  const auto noise = [&](double sd) { return sd * draw(random); };
  std::vector<MadeSeries> made;
  // `next` returns the value of step t.
  const auto add = [&](std::string name, std::size_t season, auto next) {
    MadeSeries series{std::move(name), season, {}, {}};
    for (std::size_t t = 0; t < kSeen; ++t) series.values.push_back(next(static_cast<double>(t)));
    for (std::size_t t = kSeen; t < kSeen + kAhead; ++t) series.future.push_back(next(static_cast<double>(t)));
    made.push_back(std::move(series));
  };
  const auto wave = [](double t, double period) { return std::sin(2 * std::numbers::pi * t / period); };

  double level = 20, slope = 0, before = 0, deviation = 0;
  add("walk", 1, [&](double) { return (level += noise(0.5)) + noise(1); });
  add("mean", 1, [&](double) { return 5 + noise(2); });
  add("line", 1, [&](double t) { return -3 + 0.2 * t + noise(1); });
  level = 50;
  add("trend", 1, [&](double) { return (level += (slope += noise(0.05)) + noise(0.2)) + noise(0.5); });
  level = 100;
  add("season", 12, [&](double t) {
    return (level += 0.5 + noise(0.5)) + 8 * wave(t, 12) + 4 * wave(t, 6) + noise(1.5);
  });
  level = 4.7;
  add("passengers", 12, [&](double t) {
    return std::exp((level += 0.01 + noise(0.02)) + 0.2 * wave(t, 12) + 0.1 * wave(t, 4) + noise(0.02));
  });
  level = 30;
  std::vector<double> quarters{4, 1, -3, -2};
  add("quarters", 4, [&](double t) {
    return (level += noise(0.4)) + (quarters[static_cast<std::size_t>(t) % 4] += noise(0.3)) + noise(0.4);
  });
  add("cycle", 1, [&](double) {
    const double now = 1.5 * before - 0.8 * deviation + noise(1);
    deviation = before, before = now;
    return 40 + now;
  });
  add("patients", 7, [&](double t) {
    boost::random::poisson_distribution<int> count(std::exp(3.5 + 0.002 * t + 0.3 * wave(t, 7)));
    return static_cast<double>(count(random));
  });
  level = 2;
  add("price", 1, [&](double) { return std::exp(level += noise(0.05)); });
  for (std::size_t t = 7; t < kSeen; t += 10) made.back().values[t].reset();
  return made;
}

}  // namespace dma::oracle
