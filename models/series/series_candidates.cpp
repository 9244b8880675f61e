// The models that a series may have: by name, and those that are tried if none is named.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numbers>
#include <numeric>

#include "engine/support/text.h"
#include "models/series/series_choice.h"
#include "models/series/series_seasons.h"

namespace dma {

namespace {

constexpr double kFittedNumber = 1;  // nats that a number fitted to the values beforehand gains (Akaike)

bool all_above_zero(SeriesValues values) {
  return std::ranges::all_of(values, [](const auto& value) { return !value || *value > 0; });
}

std::string season_name(double period) { return fmt::format("season {:.5g}", period); }

// Short seasons of whole steps may change their shape. Waves of others are longer than a shorter season beside them,
// whose own waves they could be: the seventh of a week in hours is the first of a day.
Process season_of(double period, const std::vector<double>& seasons) {
  if (!(period >= 2 && period <= kLongestSeason))
    fail("series: a season of {} steps is given; a number from 2 to {} is expected", period, kLongestSeason);
  if (season_moves(period)) return seasonal(static_cast<std::size_t>(period));
  auto most = static_cast<double>(season_harmonics(period));
  for (const double other : seasons)
    if (other < period) most = std::min(most, std::ceil(period / other) - 1);
  return fixed_season(period, static_cast<std::size_t>(most));
}

std::vector<Process> with_seasons(Process process, const std::vector<double>& seasons) {
  std::vector<Process> processes{std::move(process)};
  for (const double season : seasons) {
    Process& added = processes.emplace_back(season_of(season, seasons));
    if (seasons.size() == 1) continue;
    added.name = added.states[0] = season_name(season);
    for (Process::Noise& noise : added.noises) noise.name = added.name;
  }
  return processes;
}

std::string with_seasons(std::string name, const std::vector<double>& seasons) {
  for (const double season : seasons) name += " + " + season_name(season);
  return name;
}

// Burg's method: each reflection coefficient minimises the forward and backward residuals. The cost of a coefficient is
// the log of how much narrower it is known, sqrt((1 - r^2) / n), than under its uniform prior from -1 to 1; the most
// probable number of coefficients is kept.
struct Autoregression {
  std::vector<double> coefficients;
  double cost = 0;  // nats
};

Autoregression burg(const std::vector<double>& x, std::size_t most) {
  std::vector<double> forward = x, backward = x, coefficients;
  const auto n = static_cast<double>(x.size());
  double left = std::inner_product(x.begin(), x.end(), x.begin(), 0.0) / n, cost = 0, least = 0;
  Autoregression best;
  for (std::size_t order = 1; order <= most && left > 0; ++order) {
    double product = 0, squares = 0;
    for (std::size_t t = order; t < x.size(); ++t) {
      product += forward[t] * backward[t - 1];
      squares += forward[t] * forward[t] + backward[t - 1] * backward[t - 1];
    }
    if (!(squares > 0)) break;
    const double reflection = 2 * product / squares;
    std::vector<double> next = coefficients;
    for (std::size_t i = 0; i + 1 < order; ++i) next[i] -= reflection * coefficients[order - 2 - i];
    next.push_back(reflection);
    coefficients = std::move(next);
    for (std::size_t t = x.size() - 1; t >= order; --t) {
      const double ahead = forward[t], behind = backward[t - 1];
      forward[t] = ahead - reflection * behind;
      backward[t] = behind - reflection * ahead;
    }
    left *= 1 - reflection * reflection;
    cost += std::max(0.0, std::log(2.0) - 0.5 * std::log(2 * std::numbers::pi * (1 - reflection * reflection) / n));
    const double loss = 0.5 * n * std::log(left) + cost;
    if (order == 1 || loss < least) {
      best = {coefficients, cost};
      least = loss;
    }
  }
  return best;
}

// The scales to try; true: logarithms.
std::vector<bool> scales_of(SeriesValues values, SeriesScale scale) {
  if (scale == SeriesScale::plain) return {false};
  if (all_above_zero(values)) return scale == SeriesScale::logarithm ? std::vector{true} : std::vector{false, true};
  if (scale == SeriesScale::logarithm)
    fail("series: logarithms are asked for, but not all values are above 0; take the values as they are");
  return {false};
}

// The line of least squares; none if it is not above 0 from the first value on.
std::optional<SeriesLine> rising_line(SeriesValues values) {
  double count = 0, mean_t = 0, mean = 0, squares = 0, product = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!values[i]) continue;
    const double t = static_cast<double>(i) - mean_t, above = *values[i] - mean;
    mean_t += t / ++count;
    mean += above / count;
    squares += t * (static_cast<double>(i) - mean_t);
    product += t * (*values[i] - mean);
  }
  const double slope = product / squares, start = mean - slope * mean_t;
  return slope > 0 && start > 0 ? std::optional(SeriesLine{start, slope}) : std::nullopt;
}

// "ar 2", fitted to the values minus their mean and seasons; none if nothing is left of them.
std::optional<SeriesCandidate> fitted_autoregression(SeriesValues values, const std::vector<double>& seasons) {
  constexpr std::size_t kMostCoefficients = 8;
  check_range(values);
  const std::vector<double> x = without_seasons(values, seasons);
  if (std::ranges::all_of(x, [](double at) { return at == 0; })) return {};
  const Autoregression found = burg(x, std::clamp<std::size_t>(x.size() / 10, 1, kMostCoefficients));
  const double squares = std::inner_product(x.begin(), x.end(), x.begin(), 0.0);
  constexpr double kStands = 1e-8;  // relative to the series' variance, per step: a level that does not move
  SeriesCandidate candidate{with_seasons(fmt::format("ar {}", found.coefficients.size()), seasons),
                            with_seasons(random_walk(kStands * squares / static_cast<double>(x.size())), seasons)};
  candidate.processes.front().name = "mean";
  candidate.processes.insert(candidate.processes.begin() + 1, autoregressive(found.coefficients));
  candidate.penalty = found.cost;
  return candidate;
}

}  // namespace

double SeriesLine::log_at(std::size_t t) const { return std::log(start + slope * static_cast<double>(t)); }

std::vector<std::optional<double>> SeriesCandidate::scaled(SeriesValues values) const {
  std::vector<std::optional<double>> found(values.begin(), values.end());
  for (std::size_t t = 0; t < found.size() && is_log; ++t)
    if (found[t]) *found[t] = std::log(*found[t]) - line.log_at(t);
  return found;
}

std::string series_name(const SeriesCandidate& candidate) {
  return candidate.is_log ? fmt::format("{} of the logarithm", candidate.name) : candidate.name;
}

std::vector<SeriesCandidate> usual_series(SeriesValues values, const UsualSeriesOptions& options) {
  std::vector<SeriesCandidate> candidates;
  const std::vector<bool> scales = scales_of(values, options.scale);
  // Longer series show by their trend how they grow.
  const bool is_usual = options.processes.size() > 1 && scales.back() && values.size() <= kMostToChoose;
  const std::optional<SeriesLine> line = is_usual ? rising_line(values) : std::nullopt;
  const auto add = [&](const std::vector<double>& seasons) {
    for (const Process& process : options.processes)
      for (const bool is_log : scales)
        candidates.push_back({with_seasons(process.name, seasons), with_seasons(process, seasons), is_log});
    if (line)
      candidates.push_back({with_seasons("walk along a line", seasons), with_seasons(random_walk(), seasons), true,
                            kFittedNumber, *line});
    for (const bool is_log : scales) {
      if (!options.with_autoregression) break;
      auto fitted = fitted_autoregression(SeriesCandidate{.is_log = is_log}.scaled(values), seasons);
      if (!fitted) continue;
      fitted->is_log = is_log;
      candidates.push_back(std::move(*fitted));
    }
  };
  add(options.seasons);
  if (!options.seasons.empty() && !options.seasons_are_certain) add({});
  return candidates;
}

std::optional<std::vector<double>> listed_numbers(std::string_view text) {
  std::vector<double> numbers;
  for (const char *at = text.data(), *const end = text.data() + text.size(); at <= end;) {
    const auto [rest, code] = std::from_chars(at, end, numbers.emplace_back());
    if (code != std::errc{} || (rest != end && *rest != ',')) return {};
    at = rest + 1;
  }
  return numbers;
}

UsualSeriesOptions series_named(const std::string& model) {
  if (model == "auto") return {};
  UsualSeriesOptions options;
  options.with_autoregression = model == "ar";
  if (model == "ar")
    options.processes = {};
  else if (model == "walk")
    options.processes = {random_walk()};
  else if (model == "trend")
    options.processes = {local_trend()};
  else if (model == "motion")
    options.processes = {motion()};
  else if (!model.starts_with("ar:")) {
    const std::string known[] = {"auto", "walk", "trend", "motion", "ar", "ar:c1,c2,..."};
    fail("there is no model '{}' of a series{}", model, suggestion(model, known));
  } else {
    auto coefficients = listed_numbers(std::string_view(model).substr(3));
    if (!coefficients) fail("model '{}': coefficients with commas between them are expected, as in ar:0.6,-0.3", model);
    options.processes = {autoregressive(std::move(*coefficients))};
    options.scale = SeriesScale::plain;  // given coefficients apply to values around 0
  }
  return options;
}

SeriesChoice requested_series(SeriesValues values, const SeriesRequest& request,
                              const std::vector<double>& usual_seasons, SeriesChoice::Options options) {
  UsualSeriesOptions usual = series_named(request.model);
  usual.seasons = request.seasons ? *request.seasons : seasons_seen(values, usual_seasons, options.on_solve);
  usual.seasons_are_certain = request.seasons.has_value();
  if (request.log) usual.scale = *request.log ? SeriesScale::logarithm : SeriesScale::plain;
  return {usual_series(values, usual), values, std::move(options)};
}

}  // namespace dma
