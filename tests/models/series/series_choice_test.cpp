// Forecasts of series with a known truth, against simple ones.
#include "models/series/series_choice.h"

#include <doctest/doctest.h>

#include <boost/random/mersenne_twister.hpp>
#include <boost/random/normal_distribution.hpp>
#include <cmath>
#include <numbers>

#include "engine/support/text.h"
#include "models/series/series_seasons.h"
#include "tests/models/series/made_series.h"
#include "tests/oracles/relative.h"

using namespace dma;
using namespace dma::oracle;

namespace {

SeriesChoice chosen(SeriesValues values, std::size_t season) {
  UsualSeriesOptions options{.seasons_are_certain = false};
  if (season > 1) options.seasons = {static_cast<double>(season)};
  return SeriesChoice(usual_series(values, options), values);
}

struct Errors {
  double ours = 0, naive = 0, smoothing = 0;  // root mean squares
  std::size_t inside = 0;                     // number inside 95 % intervals
};

struct ChosenSeries {
  MadeSeries series;
  SeriesChoice choice;
};

// All ten series of one seed, for all test cases that need them.
const std::vector<ChosenSeries>& chosen_ten() {
  static const std::vector<ChosenSeries> kTen = [] {
    std::vector<ChosenSeries> all;
    for (MadeSeries& series : made_series(7)) {
      SeriesChoice choice = chosen(series.values, series.season);
      all.push_back({std::move(series), std::move(choice)});
    }
    return all;
  }();
  return kTen;
}

Errors errors_of(const MadeSeries& series, const SeriesChoice& choice) {
  const std::size_t ahead = series.future.size();
  const Smoothed found = choice.smooth(series.values, ahead);
  const auto naive = seasonal_naive(series.values, series.season, ahead),
             smoothing = holt_winters(series.values, series.season, ahead);
  Errors errors;
  for (std::size_t i = 0; i < ahead; ++i) {
    const std::size_t t = series.values.size() + i;
    const double truth = series.future[i];
    errors.ours += std::pow(truth - found.quantile(t, 0.5), 2) / static_cast<double>(ahead);
    errors.naive += std::pow(truth - naive[i], 2) / static_cast<double>(ahead);
    errors.smoothing += std::pow(truth - smoothing[i], 2) / static_cast<double>(ahead);
    errors.inside += truth > found.quantile(t, 0.025) && truth < found.quantile(t, 0.975);
  }
  return {std::sqrt(errors.ours), std::sqrt(errors.naive), std::sqrt(errors.smoothing), errors.inside};
}

}  // namespace

TEST_CASE("series choice: ten series are forecast ahead of a naive forecast and of exponential smoothing") {
  double against_naive = 0, against_smoothing = 0, inside = 0, all = 0, count = 0;
  const auto add = [&](const MadeSeries& series, const SeriesChoice& choice) {
    const Errors errors = errors_of(series, choice);
    CAPTURE(series.name);
    CHECK(errors.ours < 3 * errors.naive);
    against_naive += std::log(errors.ours / errors.naive);
    against_smoothing += std::log(errors.ours / errors.smoothing);
    inside += static_cast<double>(errors.inside), all += static_cast<double>(series.future.size()), ++count;
  };
  for (const ChosenSeries& one : chosen_ten()) add(one.series, one.choice);
  for (const std::uint64_t seed : {100u, 101u, 102u})  // seasonal ones take ten times as long
    for (const MadeSeries& series : made_series(seed)) {
      CAPTURE(seed);
      if (series.season == 1) add(series, chosen(series.values, 1));
    }
  CHECK(count == 28);
  CHECK(std::exp(against_naive / count) < 0.85);
  CHECK(std::exp(against_smoothing / count) < 0.95);
  CHECK(inside / all > 0.93);
  CHECK(inside / all < 0.97);
}

TEST_CASE("series choice: airline passengers of 120 months, the 24 that follow") {
  // Box and Jenkins: Time Series Analysis (1976), series G, in thousands.
  MadeSeries series{"passengers", 12, {}, {}};
  for (const double value :
       {112, 118, 132, 129, 121, 135, 148, 148, 136, 119, 104, 118, 115, 126, 141, 135, 125, 149, 170, 170,
        158, 133, 114, 140, 145, 150, 178, 163, 172, 178, 199, 199, 184, 162, 146, 166, 171, 180, 193, 181,
        183, 218, 230, 242, 209, 191, 172, 194, 196, 196, 236, 235, 229, 243, 264, 272, 237, 211, 180, 201,
        204, 188, 235, 227, 234, 264, 302, 293, 259, 229, 203, 229, 242, 233, 267, 269, 270, 315, 364, 347,
        312, 274, 237, 278, 284, 277, 317, 313, 318, 374, 413, 405, 355, 306, 271, 306, 315, 301, 356, 348,
        355, 422, 465, 467, 404, 347, 305, 336, 340, 318, 362, 348, 363, 435, 491, 505, 404, 359, 310, 337})
    series.values.push_back(value);
  series.future = {360, 342, 406, 396, 420, 472, 548, 559, 463, 407, 362, 405,
                   417, 391, 419, 461, 472, 535, 622, 606, 508, 461, 390, 432};
  const SeriesChoice choice = chosen(series.values, 12);
  const Errors errors = errors_of(series, choice);
  CHECK(errors.naive == oracle::relative(77, 0.01));
  // 49: the walk along a line is mixed in, which forecasts most other series better; 34 without it.
  CHECK(errors.ours < 55);
  CHECK(errors.inside >= 22);
  CHECK(choice.best().candidate.is_log);
  CHECK(choice.best().candidate.name.ends_with(" + season 12"));
  const Smoothed found = choice.smooth(series.values, 240);
  for (std::size_t t = 0; t < found.sd.size(); ++t) CHECK(found.quantile(t, 0.001) > 0);
}

TEST_CASE("series choice: the model that made a series is chosen") {
  for (const auto& [series, choice] : chosen_ten()) {
    CAPTURE(series.name);
    const std::string name = choice.best().candidate.name;
    CAPTURE(name);
    double weights = 0;
    for (const auto& scored : choice.models()) weights += scored.weight;
    CHECK(weights == doctest::Approx(1));
    if (series.season > 1) CHECK(name.ends_with("season " + std::to_string(series.season)));
    if (series.name == "line") CHECK(name == "trend");
    if (series.name == "cycle") CHECK(name.starts_with("ar"));
    if (series.name == "passengers") CHECK(choice.best().candidate.is_log);
  }
}

TEST_CASE("series choice: a score of logarithms is one of the values") {
  // Under known variances: the logarithm's predictive density times its derivative, value by value.
  std::vector<std::optional<double>> values, logs;
  for (int t = 0; t < 30; ++t) values.push_back(std::exp(1 + 0.1 * t + 0.2 * std::sin(5.0 * t * t)));
  double jacobian = 0;
  for (const auto& value : values) logs.push_back(std::log(*value));
  const SeriesChoice choice(usual_series(values, {.processes = {local_trend()}, .with_autoregression = false}), values);
  REQUIRE(choice.models().size() == 2);
  const auto& best = choice.best();
  CHECK(best.candidate.is_log);
  for (std::size_t t = choice.scored_from(); t < logs.size(); ++t) jacobian += *logs[t];
  CHECK(best.score == oracle::relative(best.model.log_predictive(logs, choice.scored_from()) - jacobian, 1e-9));
}

TEST_CASE("series choice: a season that multiplies a rising line is forecast along the line") {
  // The logarithm's trend would let it grow ever faster, a sum would keep the season's size.
  constexpr std::size_t kSeen = 96, kAhead = 48;
  for (const std::uint64_t seed : {3u, 4u}) {
    boost::random::mt19937_64 random(seed);
    boost::random::normal_distribution<double> normal;
    std::vector<std::optional<double>> values;
    std::vector<double> truth;
    for (std::size_t t = 0; t < kSeen + kAhead; ++t) {
      const double at = static_cast<double>(t), season = 1 + 0.3 * std::sin(at * std::numbers::pi / 6);
      truth.push_back((100 + 3 * at) * season);
      if (t < kSeen) values.push_back(truth.back() * std::exp(0.03 * normal(random)));
    }
    const SeriesChoice choice(usual_series(values, {.seasons = {12}}), values, {.horizon = kAhead});
    CHECK(choice.best().candidate.name == "walk along a line + season 12");
    const Smoothed found = choice.smooth(values, kAhead), trend = [&] {
      UsualSeriesOptions options = series_named("trend");
      options.seasons = {12};
      return SeriesChoice(usual_series(values, options), values, {.horizon = kAhead}).smooth(values, kAhead);
    }();
    double ours = 0, others = 0;
    for (std::size_t t = kSeen; t < kSeen + kAhead; ++t) {
      ours += std::pow(found.signal.mean[t] / truth[t] - 1, 2) / kAhead;
      others += std::pow(trend.signal.mean[t] / truth[t] - 1, 2) / kAhead;
      CHECK(found.quantile(t, 0.005) < truth[t]);
      CHECK(found.quantile(t, 0.995) > truth[t]);
    }
    CHECK(std::sqrt(ours) < 0.05);
    CHECK(ours < 0.5 * others);
    const SeriesLine line = choice.best().candidate.line;
    CHECK(*choice.best().candidate.scaled(values)[5] ==
          oracle::relative(std::log(*values[5] / (line.start + 5 * line.slope)), 1e-12));
  }
}

TEST_CASE("series choice: few values, and logarithms where there are none") {
  const std::vector<std::optional<double>> few{3.0, 1.0, std::nullopt, 2.0}, negative{1.0, -1.0, 2.0, 3.0, 5.0};
  CHECK(chosen(few, 12).models().size() == 1);
  CHECK_THROWS_WITH_AS(usual_series(negative, {.scale = SeriesScale::logarithm}), doctest::Contains("above 0"), Error);
  CHECK_THROWS_WITH_AS(SeriesChoice({}, few), doctest::Contains("no model"), Error);
}

TEST_CASE("series choice: series that rise are forecast to rise, and intervals of two dozen steps hold") {
  boost::random::mt19937_64 random(29);
  boost::random::normal_distribution<double> normal;
  constexpr std::size_t kSeen = 60, kAhead = 24;
  double ours = 0, line = 0, inside = 0, trends = 0;
  constexpr int kSeries = 24;
  for (int s = 0; s < kSeries; ++s) {
    // A straight line with noise or, every other time, a walk that drifts. The best forecast knows the slope.
    const double slope = 0.3, walk = s % 2 == 0 ? 0 : 0.3;
    std::vector<double> levels, y;
    for (std::size_t t = 0; t < kSeen + kAhead; ++t) {
      levels.push_back((t == 0 ? 0 : levels.back()) + slope + walk * normal(random));
      y.push_back(levels.back() + normal(random));
    }
    const std::vector<std::optional<double>> values(y.begin(), y.begin() + kSeen);
    const SeriesChoice choice(usual_series(values), values, {.horizon = kAhead});
    trends += choice.best().candidate.name == "trend";
    const Smoothed found = choice.smooth(values, kAhead);
    for (std::size_t t = kSeen; t < kSeen + kAhead; ++t) {
      const double known = levels[kSeen - 1] + slope * static_cast<double>(t + 1 - kSeen);
      ours += std::pow(y[t] - found.quantile(t, 0.5), 2);
      line += std::pow(y[t] - known, 2);
      inside += y[t] > found.quantile(t, 0.025) && y[t] < found.quantile(t, 0.975);
    }
  }
  CHECK(trends / kSeries > 0.8);
  CHECK(std::sqrt(ours / line) < 1.4);
  CHECK(inside / (kSeries * kAhead) > 0.9);
  CHECK(inside / (kSeries * kAhead) < 0.99);
}

namespace {

// A walk with noise, and waves of these periods.
std::vector<std::optional<double>> waves(std::size_t length, const std::vector<double>& periods, std::uint64_t seed) {
  boost::random::mt19937_64 random(seed);
  boost::random::normal_distribution<double> normal;
  std::vector<std::optional<double>> values;
  double level = 0;
  for (std::size_t t = 0; t < length; ++t) {
    double value = (level += 0.2 * normal(random)) + normal(random);
    for (const double period : periods)
      value += 2 * std::sin(2 * std::numbers::pi * static_cast<double>(t) / period) +
               std::cos(4 * std::numbers::pi * static_cast<double>(t) / period);
    values.push_back(t % 11 == 3 ? std::nullopt : std::optional(value));
  }
  return values;
}

}  // namespace

TEST_CASE("series seasons: those of a calendar are found where the values have them, others where no calendar helps") {
  const std::vector<double> daily{7, 365.2425}, weekly{52.1775}, none;
  int found_in_noise = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    CHECK(seasons_seen(waves(400, {7}, seed), daily) == std::vector<double>{7});
    CHECK(seasons_seen(waves(200, {52.1775}, seed), weekly) == weekly);
    CHECK(seasons_seen(waves(200, {9}, seed), none) == std::vector<double>{9});
    found_in_noise +=
        !seasons_seen(waves(200, {}, seed), none).empty() + !seasons_seen(waves(400, {}, seed), daily).empty();
  }
  CHECK(found_in_noise <= 4);  // a tenth: such a season is tried beside none once more
  CHECK(seasons_seen(waves(500, {7, 30.44}, 1), {7, 30.44, 200}) == std::vector<double>{7, 30.44});
  CHECK(seasons_seen(waves(100, {52.1775}, 1), weekly).empty());  // less than two years
  CHECK(seasons_seen({}, daily).empty());
  for (const double steps : {-3.0, 0.0, 1.0, std::nan(""), 1e300}) {
    const std::vector<std::optional<double>> values = waves(50, {}, 1);
    CHECK_THROWS_WITH_AS(usual_series(values, {.seasons = {steps}}), doctest::Contains("from 2 to 10000"), Error);
  }
}

TEST_CASE("series choice: a season of fixed shape is chosen and forecast, a year of weeks ahead") {
  auto values = waves(312, {52.1775}, 5);
  const std::vector<std::optional<double>> future(values.end() - 52, values.end());
  values.resize(260);
  const UsualSeriesOptions options{.seasons = seasons_seen(values, {52.1775}), .seasons_are_certain = false};
  const SeriesChoice choice(usual_series(values, options), values, {.horizon = 52});
  CHECK(choice.best().candidate.name == "walk + season 52.178");
  const Smoothed found = choice.smooth(values, 52);
  double square = 0, inside = 0, seen = 0;
  for (std::size_t i = 0; i < 52; ++i) {
    if (!future[i]) continue;
    ++seen;
    square += std::pow(*future[i] - found.quantile(260 + i, 0.5), 2);
    inside += *future[i] > found.quantile(260 + i, 0.025) && *future[i] < found.quantile(260 + i, 0.975);
  }
  CHECK(std::sqrt(square / seen) < 2.0);  // the walk alone has 0.2 sqrt(26) = 1.02 halfway, the noise 1
  CHECK(inside / seen > 0.9);
}
