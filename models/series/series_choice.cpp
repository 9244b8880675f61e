#include "models/series/series_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numbers>
#include <numeric>

#include "engine/messages/gaussian.h"
#include "engine/support/error.h"
#include "engine/support/text.h"
#include "models/series/series_graph.h"
#include "models/series/series_seasons.h"

namespace dma {

namespace {

using OptionalValues = std::vector<std::optional<double>>;

constexpr double kMixed = 3;                 // nats below the best: models with less than a twentieth of its weight
constexpr double kClear = 12;                // nats below the best: models that a closer look leaves behind
constexpr std::size_t kMostToChoose = 2000;  // only so many of the last values are scored

std::size_t seen(SeriesValues values) {
  return static_cast<std::size_t>(std::ranges::count_if(values, [](const auto& value) { return value.has_value(); }));
}

bool all_above_zero(SeriesValues values) {
  return std::ranges::all_of(values, [](const auto& value) { return !value || *value > 0; });
}

OptionalValues on_scale(SeriesValues values, bool is_log) {
  OptionalValues scaled(values.begin(), values.end());
  if (is_log)
    for (auto& value : scaled)
      if (value) *value = std::log(*value);
  return scaled;
}

double sum_of(const OptionalValues& logs, std::size_t first) {
  double sum = 0;
  for (std::size_t t = first; t < logs.size(); ++t) sum += logs[t].value_or(0);
  return sum;
}

// Forecasts of `horizon` steps from the ends of earlier parts of the series, with the variances of the whole: per
// forecast the mean log density of its values, twice, since errors of one forecast go together. 0 for a single step,
// which the evidence counts already.
double score_ahead(const StateSpace& model, const OptionalValues& scaled, bool is_log, std::size_t first,
                   std::size_t horizon) {
  constexpr std::size_t kMostOrigins = 8;
  constexpr double kWorth = 2;
  double score = 0;
  for (std::size_t i = 1; horizon > 1 && i <= kMostOrigins && i * horizon + first <= scaled.size(); ++i) {
    const std::size_t origin = scaled.size() - i * horizon;
    SeriesGraph graph(model, SeriesValues(scaled).first(origin), origin + horizon);
    graph.solve();
    const Belief signal = graph.signal();
    double sum = 0, count = 0;
    for (std::size_t t = origin; t < origin + horizon; ++t) {
      if (!scaled[t]) continue;
      const double variance = signal.variance(t) + model.observation_variance();
      sum += log_density(Gaussian::from_moments(signal.mean(t), variance), *scaled[t] - graph.shift()) -
             (is_log ? *scaled[t] : 0);
      ++count;
    }
    if (count > 0) score += kWorth * sum / count;
  }
  return score;
}

std::size_t start_states(const SeriesCandidate& candidate) {
  std::size_t count = 0;
  for (const Process& process : candidate.processes) count += process.start_states();
  return count;
}

// The step after which `count` values have been seen.
std::size_t steps_with(SeriesValues values, std::size_t count) {
  std::size_t t = 0;
  for (; t < values.size() && count > 0; ++t) count -= values[t].has_value();
  return t;
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

std::string series_name(const SeriesCandidate& candidate) {
  return candidate.is_log ? fmt::format("{} of the logarithm", candidate.name) : candidate.name;
}

std::vector<SeriesCandidate> usual_series(SeriesValues values, const UsualSeriesOptions& options) {
  std::vector<SeriesCandidate> candidates;
  const std::vector<bool> scales = scales_of(values, options.scale);
  const auto add = [&](const std::vector<double>& seasons) {
    for (const Process& process : options.processes)
      for (const bool is_log : scales)
        candidates.push_back({with_seasons(process.name, seasons), with_seasons(process, seasons), is_log});
    for (const bool is_log : scales) {
      if (!options.with_autoregression) break;
      auto fitted = fitted_autoregression(on_scale(values, is_log), seasons);
      if (!fitted) continue;
      fitted->is_log = is_log;
      candidates.push_back(std::move(*fitted));
    }
  };
  add(options.seasons);
  if (!options.seasons.empty() && !options.seasons_are_certain) add({});
  return candidates;
}

SeriesChoice::SeriesChoice(std::vector<SeriesCandidate> candidates, SeriesValues values, Options given) {
  if (candidates.empty()) fail("series: there is no model to choose; at least one is expected");
  // Learns from the last values, as many as are in `scaled`.
  const auto learn = [&](const SeriesCandidate& candidate, const OptionalValues& scaled, bool is_rough = false) {
    StateSpaceOptions options{.inputs = given.inputs, .is_rough = is_rough};
    for (SeriesInput& input : options.inputs) {
      const std::size_t before = std::min(values.size() - scaled.size(), input.values.size());
      input.values.erase(input.values.begin(), input.values.begin() + static_cast<std::ptrdiff_t>(before));
    }
    if (given.on_solve)
      options.on_solve = [on_solve = given.on_solve, name = series_name(candidate)](int solves, double) {
        on_solve(name, solves);
      };
    StateSpace model(candidate.processes, options);
    const StateSpace::Learned learned = model.learn(scaled);
    return Scored{candidate, std::move(model), learned, 0, 1, is_rough};
  };
  // The scored values; before them, as many as determine the start of every candidate.
  const SeriesValues last = values.last(std::min(values.size(), kMostToChoose));
  constexpr std::size_t kLeastScored = 4;
  const std::size_t beyond_start = 2 + given.inputs.size();
  const std::size_t known = seen(last);
  if (candidates.size() > 1) {
    const SeriesCandidate least = *std::ranges::min_element(candidates, {}, start_states);
    std::erase_if(candidates,
                  [&](const SeriesCandidate& c) { return start_states(c) + beyond_start + kLeastScored > known; });
    if (candidates.empty()) candidates.push_back(least);
  }
  if (candidates.size() > 1) {
    std::size_t most = 0;
    for (const SeriesCandidate& candidate : candidates) {
      std::size_t memory = 0;
      for (const Process& process : candidate.processes)
        memory = std::max({memory, process.longest_lag() + 1, static_cast<std::size_t>(process.period)});
      most = std::max({most, start_states(candidate) + beyond_start, std::min(2 * memory, known / 2)});
    }
    first_ = steps_with(last, most);
  }
  const auto scored = [&](const SeriesCandidate& candidate, bool is_rough) {
    const OptionalValues scaled = on_scale(candidates.size() > 1 ? last : values, candidate.is_log);
    Scored model = learn(candidate, scaled, is_rough);
    if (first_ > 0)
      model.score = model.model.log_predictive(scaled, first_) - candidate.penalty -
                    (candidate.is_log ? sum_of(scaled, first_) : 0) +
                    score_ahead(model.model, scaled, candidate.is_log, first_, given.horizon);
    return model;
  };
  // A rough look at all; a closer one at those that are near the best, until none of them is rough.
  const bool are_rough = candidates.size() > 1 && known < kLongSeries;
  // Once the first process, usually a trend, is clearly better on one scale, the others are not tried on the other.
  std::optional<bool> is_log;
  for (const SeriesCandidate& candidate : candidates) {
    if (is_log.value_or(candidate.is_log) != candidate.is_log) continue;
    models_.push_back(scored(candidate, are_rough));
    if (models_.size() != 2 || models_[0].candidate.name != candidate.name) continue;
    const Scored& better = models_[0].score > models_[1].score ? models_[0] : models_[1];
    if (std::abs(models_[0].score - models_[1].score) > kClear) is_log = better.candidate.is_log;
  }
  std::ranges::stable_sort(models_, std::greater(), &Scored::score);
  for (bool is_more = true; is_more;) {
    is_more = false;
    for (Scored& model : models_) {
      if (!model.is_rough || best().score - model.score > kClear) continue;
      model = scored(model.candidate, false);
      is_more = true;
    }
    std::ranges::stable_sort(models_, std::greater(), &Scored::score);
  }
  double total = 0;
  for (Scored& model : models_) {
    const double below = best().score - model.score;
    total += model.weight = below < kMixed ? std::exp(-below) : 0;
  }
  for (Scored& model : models_) {
    model.weight /= total;
    if (model.weight > 0 && first_ > 0 && last.size() < values.size()) {
      Scored anew = learn(model.candidate, on_scale(values, model.candidate.is_log));
      model.model = std::move(anew.model);
      model.learned = anew.learned;
    }
  }
}

Smoothed SeriesChoice::smooth(SeriesValues values, std::size_t horizon) const {
  Smoothed mixed;
  for (const Scored& scored : models_) {
    if (!(scored.weight > 0)) continue;
    const OptionalValues scaled = on_scale(values, scored.candidate.is_log);
    Smoothed found = scored.model.smooth(scaled, horizon);
    std::vector<SmoothedPart> parts = std::move(mixed.parts);
    for (SmoothedPart& part : found.parts) {
      part.weight *= scored.weight;
      part.is_log = scored.candidate.is_log;
      parts.push_back(std::move(part));
    }
    if (mixed.sd.empty()) {
      mixed = std::move(found);
      if (scored.candidate.is_log) mixed.log_evidence -= sum_of(scaled, 0);
    }
    mixed.parts = std::move(parts);
  }
  // The value's mean and standard deviation; for the exponential of a Gaussian they are exp(m + v/2) and that times
  // sqrt(exp(v) - 1).
  for (std::size_t t = 0; t < mixed.sd.size(); ++t) {
    double mean = 0, square = 0, weight = 0;
    for (const SmoothedPart& part : mixed.parts) {
      const double variance = part.sd[t] * part.sd[t];
      const double centre = part.is_log ? std::exp(part.mean[t] + 0.5 * variance) : part.mean[t];
      const double spread = part.is_log ? centre * centre * std::expm1(variance) : variance;
      const double fraction = part.weight / (weight += part.weight), apart = centre - mean;
      mean += fraction * apart;
      square += fraction * (spread - square + (1 - fraction) * apart * apart);
    }
    if (best().candidate.is_log) {
      const double variance = mixed.signal.sd[t] * mixed.signal.sd[t];
      mixed.signal.sd[t] = std::exp(mixed.signal.mean[t] + 0.5 * variance) * std::sqrt(std::expm1(variance));
    }
    mixed.signal.mean[t] = mean;
    mixed.sd[t] = std::sqrt(square);
  }
  return mixed;
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
    std::vector<double> coefficients;
    for (const char *at = model.data() + 3, *const end = model.data() + model.size(); at <= end;) {
      double value = 0;
      const auto [rest, code] = std::from_chars(at, end, value);
      if (code != std::errc{} || (rest != end && *rest != ','))
        fail("model '{}': coefficients with commas between them are expected, as in ar:0.6,-0.3", model);
      coefficients.push_back(value);
      at = rest + 1;
    }
    options.processes = {autoregressive(std::move(coefficients))};
    options.scale = SeriesScale::plain;  // given coefficients apply to values around 0
  }
  return options;
}

}  // namespace dma
