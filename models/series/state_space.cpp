#include "models/series/state_space.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "engine/support/maximise.h"
#include "engine/support/text.h"
#include "models/series/series_graph.h"
#include "models/series/weighted_points.h"

namespace dma {

namespace {

constexpr double kWideStart = 1e4;                            // prior variance of a start, in variances of the series
constexpr double kLeastOfSpread = 1e-8, kMostOfSpread = 1e4;  // range of a learned variance, in the same units
constexpr std::size_t kLeastValues = 3;
// Remaining slope of the evidence at which a search ends, in nats per e-fold of a variance: the variances are then
// within a hundredth of their posterior standard deviation. Rounding prevents a smaller value for long series.
constexpr double kSteepest = 0.01;
// The typical slope noise moves a series of n values a tenth as much as noise of its level does: 3 / n^2 would move it
// as much. Forecasts then go on with nearly the mean slope unless the values show that it changes.
constexpr double kSlope = 0.3;
constexpr double kNoWeight = 1e-4;  // weight below which a point is dropped
constexpr std::size_t kNoisePoints = 48;

struct Spread {
  std::size_t values = 0;
  double mean = 0, variance = 0, lowest = 0, highest = 0;
};

Spread spread_of(SeriesValues values) {
  Spread spread;
  double squares = 0;
  for (std::size_t t = 0; t < values.size(); ++t) {
    if (!values[t]) continue;
    if (!std::isfinite(*values[t]))
      fail("series: value {} is {}; a finite number is expected, or nothing if it is missing", t + 1, *values[t]);
    spread.lowest = spread.values == 0 ? *values[t] : std::min(spread.lowest, *values[t]);
    spread.highest = spread.values == 0 ? *values[t] : std::max(spread.highest, *values[t]);
    const double ahead = *values[t] - spread.mean;
    spread.mean += ahead / static_cast<double>(++spread.values);
    squares += ahead * (*values[t] - spread.mean);
  }
  if (spread.values > 0) spread.variance = squares / static_cast<double>(spread.values);
  return spread;
}

// Mean square of the moves from a value to the next one; with a season, of the differences of such moves from those a
// season before, halved because each is a difference of two.
double mean_square_move(SeriesValues values, std::size_t season) {
  double sum = 0;
  std::size_t count = 0;
  for (std::size_t t = season + 1; t < values.size() && season > 0; ++t) {
    if (!values[t] || !values[t - 1] || !values[t - season] || !values[t - season - 1]) continue;
    const double move = *values[t] - *values[t - 1] - *values[t - season] + *values[t - season - 1];
    sum += 0.5 * move * move;
    ++count;
  }
  std::optional<double> before;
  for (std::size_t t = 0; t < values.size() && (season == 0 || !(sum > 0)); ++t) {
    if (!values[t]) continue;
    if (before) {
      sum += (*values[t] - *before) * (*values[t] - *before);
      ++count;
    }
    before = values[t];
  }
  return count > 0 && sum > 0 ? sum / static_cast<double>(count) : 1;
}

// Starts of the search, as logarithms of variances: all moderate, and each large with the others small, because the
// moves of a series have several explanations, each of which may be a summit.
std::vector<Eigen::VectorXd> starts_around(const Eigen::VectorXd& usual, bool is_long) {
  constexpr double kModerate = -1.5, kSmall = -6;
  std::vector<Eigen::VectorXd> starts{usual.array() + kModerate};
  for (Eigen::Index i = 0; i < usual.size() && usual.size() > 1 && !is_long; ++i) {
    starts.push_back(usual.array() + kSmall);
    starts.back()[i] = usual[i];
  }
  return starts;
}

void check_range(const Spread& spread) {
  constexpr double kLargestMoment = 1e100, kSmallestVariance = 1e-200;  // beyond: variances that overflow or underflow
  if (!(std::abs(spread.mean) <= kLargestMoment && spread.variance <= kLargestMoment) ||
      (spread.highest > spread.lowest && spread.variance < kSmallestVariance))
    fail("series: its values go from {:.3g} to {:.3g}; change the units so that they are of a more usual size",
         spread.lowest, spread.highest);
}

}  // namespace

void check_forecast(std::size_t steps) {
  if (steps > kMostForecasts)
    fail("series: {} steps are to be forecast; at most {} are expected", steps, kMostForecasts);
}
void check_range(SeriesValues values) { check_range(spread_of(values)); }

StateSpace::StateSpace(std::vector<Process> processes, StateSpaceOptions options)
    : processes_(std::move(processes)), options_(std::move(options)) {
  if (processes_.empty()) fail("series: there is no process; at least one is expected, such as random_walk()");
  if (options_.observation_variance &&
      !(*options_.observation_variance > 0 && std::isfinite(*options_.observation_variance)))
    fail("series: the observation's variance is {}; a finite number above 0 is expected, or none to have it learned",
         *options_.observation_variance);
  variances_.push_back({"observation", options_.observation_variance.value_or(0), false});
  for (const Process& process : processes_) {
    first_variance_.push_back(variances_.size());
    for (const Process::Noise& noise : process.noises)
      variances_.push_back({process.name == noise.name ? noise.name : process.name + "." + noise.name,
                            noise.variance.value_or(0), false});
  }
}

StateSpace::Start StateSpace::start(SeriesValues values) const {
  const Spread spread = spread_of(values);
  const double size = std::max(spread.variance, 1e-20 * spread.mean * spread.mean);
  return {options_.start_mean.value_or(spread.mean),
          options_.start_variance.value_or(kWideStart * (size > 0 ? size : 1.0))};
}

StateSpace::Learned StateSpace::learn(SeriesValues values) {
  const Spread spread = spread_of(values);
  if (spread.values < kLeastValues)
    fail("series: {} of its values are present; learning variances needs at least {}", spread.values, kLeastValues);
  check_range(spread);
  for (const Process& process : processes_)
    if (process.longest_lag() >= values.size())
      fail("series: '{}' looks back {} steps, but the series has {}; give more values, or another model", process.name,
           process.longest_lag(), values.size());
  if (!(spread.variance > 0))
    fail("series: all its values are {}; without variation there are no variances to learn", spread.mean);
  std::vector<std::size_t>& unknown = learned_;
  unknown.clear();
  may_be_ = std::make_shared<const WeightedPoints>();
  const std::vector<double> usual = usual_variances(values);
  Eigen::VectorXd scales(static_cast<Eigen::Index>(variances_.size()));
  for (std::size_t i = 0; i < variances_.size(); ++i) {
    const bool is_given = i == 0 ? options_.observation_variance.has_value() : given(i).has_value();
    if (is_given) continue;
    scales[static_cast<Eigen::Index>(unknown.size())] = std::log(usual[i]);
    unknown.push_back(i);
    variances_[i].learned = true;
    variances_[i].value = usual[i];
  }
  scales.conservativeResize(static_cast<Eigen::Index>(unknown.size()));
  SeriesGraph graph(*this, values, values.size());
  int solves = 0;
  double evidence = 0;
  // The prior of a standard deviation is half Cauchy with the typical width: a variance of 0 stays possible, and few
  // values cannot make one a thousand times too large.
  const auto posterior = [&](const Eigen::VectorXd& logs, Eigen::VectorXd& slopes) {
    slopes.resize(logs.size());
    for (std::size_t i = 0; i < unknown.size(); ++i)
      graph.set_variance(unknown[i], std::exp(logs[static_cast<Eigen::Index>(i)]));
    evidence = graph.solve();
    if (options_.on_solve) options_.on_solve(++solves, evidence);
    for (std::size_t i = 0; i < unknown.size(); ++i)
      slopes[static_cast<Eigen::Index>(i)] = graph.slope(unknown[i], std::exp(logs[static_cast<Eigen::Index>(i)]));
    const Eigen::ArrayXd fraction = (logs - scales).array().exp();
    slopes.array() += 0.5 - fraction / (1 + fraction);
    return evidence + (0.5 * (logs - scales).array() - fraction.log1p() - std::log(std::numbers::pi)).sum();
  };
  const double unit = std::log(spread.variance);
  const double low = std::min(unit, scales.size() > 0 ? scales.minCoeff() : unit) + std::log(kLeastOfSpread),
               high = unit + std::log(kMostOfSpread);
  const bool is_long = spread.values >= kLongSeries || options_.is_rough;
  const double steepest = kSteepest * std::max(1.0, std::sqrt(static_cast<double>(spread.values) / 1000));
  const std::vector<Maximum> found =
      summits(posterior, starts_around(scales, is_long), {.low = low, .high = high, .tolerance = steepest});
  const Maximum& best = found.front();
  for (std::size_t i = 0; i < unknown.size(); ++i)
    variances_[unknown[i]].value = std::exp(best.at[static_cast<Eigen::Index>(i)]);
  Eigen::VectorXd unused;
  (void)posterior(best.at, unused);
  const Learned learned{evidence, best.evaluations, best.converged};
  WeightedPoints may_be =
      weighted_points(posterior, found, {.low = low, .high = high, .count = is_long ? 0 : kNoisePoints});
  if (is_long) may_be.points = {{best.at, 1}};
  may_be_ = std::make_shared<const WeightedPoints>(std::move(may_be));
  return learned;
}

// The observation's, then those of the processes.
std::vector<double> StateSpace::usual_variances(SeriesValues values) const {
  std::size_t season = 0;
  for (const Process& process : processes_)
    season = std::max(season, static_cast<std::size_t>(std::round(process.period)));
  const double move = mean_square_move(values, season), length = static_cast<double>(values.size());
  std::vector<double> usual{move};
  for (const Process& process : processes_)
    for (const Process::Noise& noise : process.noises)
      usual.push_back(move * noise.usual * (noise.is_slope ? kSlope / (length * length) : 1));
  return usual;
}

// Sets the graph's variances; returns the observation's.
double StateSpace::set_variances(const WeightedPoint& point, SeriesGraph& graph) const {
  double observation = observation_variance();
  for (std::size_t i = 0; i < learned_.size(); ++i) {
    const double variance = std::exp(point.at[static_cast<Eigen::Index>(i)]);
    graph.set_variance(learned_[i], variance);
    if (learned_[i] == 0) observation = variance;
  }
  return observation;
}

double StateSpace::log_predictive(SeriesValues values, std::size_t first) const {
  check_known();
  if (first > values.size())
    fail("series: the first {} of {} values are requested; at most all are possible", first, values.size());
  const WeightedPoints known{{{{}, 1}}, 0};
  const WeightedPoints& may_be = learned_.empty() ? known : *may_be_;
  const StateSpace as_whole = with_start(start(values));
  SeriesGraph graph(as_whole, values.first(first), first);
  // The integral of prior p(all) / p(first), where the weights are those of prior p(all) and sum to its mass.
  std::vector<double> logs;
  for (const WeightedPoint& point : may_be.points) {
    (void)set_variances(point, graph);
    logs.push_back(std::log(point.weight) - (first > 0 ? graph.solve() : 0));
  }
  const double largest = *std::ranges::max_element(logs);
  double sum = 0;
  for (const double log : logs) sum += std::exp(log - largest);
  const double mass = learned_.empty() ? SeriesGraph(*this, values, values.size()).solve() : may_be_->log_mass;
  return mass + largest + std::log(sum);
}

StateSpace StateSpace::with_start(const Start& start) const {
  StateSpace other = *this;
  other.options_.start_mean = start.mean;
  other.options_.start_variance = start.variance;
  return other;
}

Smoothed StateSpace::smooth(SeriesValues values, std::size_t horizon) const {
  check_known();
  check_forecast(horizon);
  if (values.size() + horizon == 0) fail("series: it is empty; at least one value is expected, or steps to forecast");
  SeriesGraph graph(*this, values, values.size() + horizon);
  int solves = 1;
  const double log_evidence = graph.solve();
  if (options_.on_solve) options_.on_solve(solves, log_evidence);
  Smoothed found = graph.smoothed(*this, observation_variance());
  std::vector<double> value_surprise = graph.value_surprise(observation_variance()),
                      level_surprise = graph.level_surprise(*this);
  if (!learned_.empty() && may_be_->points.size() > 1) {
    double total = 0;
    for (const WeightedPoint& point : may_be_->points) {
      if (point.weight < kNoWeight) continue;
      const double observation = set_variances(point, graph), evidence = graph.solve();
      if (options_.on_solve) options_.on_solve(++solves, evidence);
      total += point.weight;
      found.mix(graph.smoothed(*this, observation), point.weight / total);
    }
  }
  found.log_evidence = log_evidence;
  found.value_surprise = std::move(value_surprise);
  found.level_surprise = std::move(level_surprise);
  return found;
}

double StateSpace::variance(std::size_t process, std::size_t noise) const {
  return variances_[position(process, noise)].value;
}

const std::optional<double>& StateSpace::given(std::size_t variance) const {
  std::size_t k = processes_.size() - 1;
  while (first_variance_[k] > variance) --k;
  return processes_[k].noises[variance - first_variance_[k]].variance;
}

void StateSpace::check_known() const {
  for (const Variance& variance : variances_)
    if (!(variance.value > 0))
      fail("series: the variance '{}' is not known; give it, or call learn() first", variance.name);
}

}  // namespace dma
