#include "models/series/series_choice.h"

#include <algorithm>
#include <cmath>

#include "engine/messages/gaussian.h"
#include "engine/support/text.h"
#include "models/series/series_graph.h"
#include "models/series/series_seasons.h"

namespace dma {

namespace {

using OptionalValues = std::vector<std::optional<double>>;

// Nats by which a weight in the mixture falls to 1/e. One nat is right if one of the models is true; as none is, the
// mixtures of three forecast better (tools/experiments/results/RESULTS.md).
constexpr double kTemper = 3;
constexpr double kMixed = 3 * kTemper;  // nats below the best: models with less than a twentieth of its weight
constexpr double kClear = 12;           // nats below the best: models that a closer look leaves behind

std::size_t seen(SeriesValues values) {
  return static_cast<std::size_t>(std::ranges::count_if(values, [](const auto& value) { return value.has_value(); }));
}

// The logarithm of the density of a value over that of its logarithm, or of its ratio to a line, summed over values.
double log_slope(SeriesValues values, bool is_log) {
  double sum = 0;
  for (const std::optional<double>& value : values)
    if (is_log && value) sum -= std::log(*value);
  return sum;
}

// Forecasts of `horizon` steps from the ends of earlier parts of the series, with the variances of the whole: per
// forecast the mean log density of its values, twice, since errors of one forecast go together. 0 for a single step,
// which the evidence counts already.
double score_ahead(const StateSpace& model, SeriesValues values, const OptionalValues& scaled, bool is_log,
                   std::size_t first, std::size_t horizon) {
  constexpr std::size_t kMostOrigins = 8;
  constexpr double kWorth = 2;
  double score = 0;
  for (std::size_t i = 1; horizon > 1 && i <= kMostOrigins && i * horizon + first <= scaled.size(); ++i) {
    const std::size_t origin = scaled.size() - i * horizon;
    SeriesGraph graph(model, SeriesValues(scaled).first(origin), origin + horizon);
    graph.solve();
    const Belief signal = graph.signal();
    double sum = log_slope(values.subspan(origin, horizon), is_log), count = 0;
    for (std::size_t t = origin; t < origin + horizon; ++t) {
      if (!scaled[t]) continue;
      const double variance = signal.variance(t) + model.observation_variance();
      sum += log_density(Gaussian::from_moments(signal.mean(t), variance), *scaled[t] - graph.shift());
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

}  // namespace

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
    const SeriesValues shown = candidates.size() > 1 ? last : values;
    const OptionalValues scaled = candidate.scaled(shown);
    Scored model = learn(candidate, scaled, is_rough);
    if (first_ > 0)
      model.score = model.model.log_predictive(scaled, first_) - candidate.penalty +
                    log_slope(shown.subspan(first_), candidate.is_log) +
                    score_ahead(model.model, shown, scaled, candidate.is_log, first_, given.horizon);
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
  // Each model of a mixture is solved for all values again: those of a long series are the few of the largest weights.
  const double mixed = last.size() < values.size() ? kTemper : kMixed;
  double total = 0;
  for (Scored& model : models_) {
    const double below = best().score - model.score;
    total += model.weight = below < mixed ? std::exp(-below / kTemper) : 0;
  }
  for (Scored& model : models_) {
    model.weight /= total;
    if (model.weight > 0 && first_ > 0 && last.size() < values.size()) {
      Scored anew = learn(model.candidate, model.candidate.scaled(values));
      model.model = std::move(anew.model);
      model.learned = anew.learned;
    }
  }
}

Smoothed SeriesChoice::smooth(SeriesValues values, std::size_t horizon) const {
  Smoothed mixed;
  for (const Scored& scored : models_) {
    if (!(scored.weight > 0)) continue;
    const SeriesCandidate& candidate = scored.candidate;
    Smoothed found = scored.model.smooth(candidate.scaled(values), horizon);
    std::vector<SmoothedPart> parts = std::move(mixed.parts);
    for (SmoothedPart& part : found.parts) {
      part.weight *= scored.weight;
      part.is_log = candidate.is_log;
      for (std::size_t t = 0; t < part.mean.size(); ++t) part.mean[t] += candidate.line.log_at(t);
      parts.push_back(std::move(part));
    }
    if (mixed.sd.empty()) {
      mixed = std::move(found);
      mixed.log_evidence += log_slope(values, candidate.is_log);
      for (std::size_t t = 0; t < mixed.sd.size(); ++t) mixed.signal.mean[t] += candidate.line.log_at(t);
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

}  // namespace dma
