#include "models/series/state_space.h"

#include <algorithm>
#include <cmath>

#include "engine/support/error.h"
#include "engine/support/maximise.h"
#include "models/series/series_average.h"
#include "models/series/series_graph.h"

namespace dma {

namespace {

constexpr double kWideStart = 1e4;                       // of an unknown start, in variances of the series
constexpr double kLeastOfSpread = 1e-10, kMostOfSpread = 1e4;  // of a learned variance, likewise
constexpr std::size_t kLeastValues = 3;
// Nats that the evidence may still rise by where a variance grows e-fold: standard deviations are then known to four
// digits or, where the evidence is nearly flat, to far less than it tells about them. Rounding keeps long series from
// less.
constexpr double kSteepest = 1e-4;
constexpr std::size_t kLongSeries = 1000;  // values, from which on the learned variances are as good as known

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
      fail("series: value {} is {}; a finite number is expected, or nothing where it is missing", t + 1, *values[t]);
    spread.lowest = spread.values == 0 ? *values[t] : std::min(spread.lowest, *values[t]);
    spread.highest = spread.values == 0 ? *values[t] : std::max(spread.highest, *values[t]);
    const double ahead = *values[t] - spread.mean;
    spread.mean += ahead / static_cast<double>(++spread.values);
    squares += ahead * (*values[t] - spread.mean);
  }
  if (spread.values > 0) spread.variance = squares / static_cast<double>(spread.values);
  return spread;
}

// From a value to the next that is there.
double mean_square_move(SeriesValues values) {
  double sum = 0;
  std::size_t count = 0;
  std::optional<double> before;
  for (const std::optional<double>& value : values) {
    if (!value) continue;
    if (before) sum += (*value - *before) * (*value - *before), ++count;
    before = value;
  }
  return count > 0 && sum > 0 ? sum / static_cast<double>(count) : 1;
}

}  // namespace

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
    fail("series: {} of its values are there; at least {} are expected to learn variances from", spread.values,
         kLeastValues);
  constexpr double kLargest = 1e100, kSmallest = 1e-200;  // beyond: variances that a double cannot hold
  if (!(std::abs(spread.mean) <= kLargest && spread.variance <= kLargest) ||
      (spread.highest > spread.lowest && spread.variance < kSmallest))
    fail(
        "series: its values are around {:.3g} with a variance of {:.3g}; numbers of a more usual size are expected, in "
        "other units",
        spread.mean, spread.variance);
  for (const Process& process : processes_)
    if (process.longest_lag() >= values.size())
      fail("series: '{}' looks back {} steps, but the series has {}; give more values, or another model", process.name,
           process.longest_lag(), values.size());
  if (!(spread.variance > 0))
    fail("series: all its values are {}; without variation there are no variances to learn", spread.mean);
  std::vector<std::size_t>& unknown = learned_;
  unknown.clear(), may_be_.clear();
  for (std::size_t i = 0; i < variances_.size(); ++i) {
    const bool is_given = i == 0 ? options_.observation_variance.has_value() : given(i).has_value();
    if (is_given) continue;
    unknown.push_back(i);
    variances_[i].learned = true;
    variances_[i].value = 0.1 * spread.variance;
  }
  SeriesGraph graph(*this, values, values.size());
  int solves = 0;
  const auto evidence = [&](const Eigen::VectorXd& logs, Eigen::VectorXd& slopes) {
    for (std::size_t i = 0; i < unknown.size(); ++i)
      graph.set_variance(unknown[i], std::exp(logs[static_cast<Eigen::Index>(i)]));
    const double found = graph.solve();
    if (options_.on_solve) options_.on_solve(++solves, found);
    for (std::size_t i = 0; i < unknown.size(); ++i)
      slopes[static_cast<Eigen::Index>(i)] = graph.slope(unknown[i], std::exp(logs[static_cast<Eigen::Index>(i)]));
    return found;
  };
  const double unit = std::log(spread.variance);
  const double low = unit + std::log(kLeastOfSpread), high = unit + std::log(kMostOfSpread);
  const Maximum best =
      maximise(evidence, Eigen::VectorXd::Constant(static_cast<Eigen::Index>(unknown.size()), unit - 2),
               {.low = low, .high = high, .tolerance = kSteepest});
  for (std::size_t i = 0; i < unknown.size(); ++i)
    variances_[unknown[i]].value = std::exp(best.at[static_cast<Eigen::Index>(i)]);
  // Before the values were seen, standard deviations have half Cauchy distributions as wide as the series moves in a
  // step:
  // a variance of nothing is one possibility among others, also where it is the most probable one, and few values do
  // not make one of a thousand times that size.
  const double moves = mean_square_move(values);
  const auto posterior = [&](const Eigen::VectorXd& logs, Eigen::VectorXd& slopes) {
    const Eigen::ArrayXd fraction = logs.array().exp() / moves;
    const double found = evidence(logs, slopes) + 0.5 * logs.sum() - fraction.log1p().sum();
    slopes.array() += 0.5 - fraction / (1 + fraction);
    return found;
  };
  if (spread.values < kLongSeries)
    may_be_ = weighted_points(posterior, best.at.cwiseMax(unit - 6), {.low = low, .high = high});
  return {best.value, best.evaluations, best.converged};
}

Smoothed StateSpace::smooth(SeriesValues values, std::size_t horizon) const {
  check_known();
  if (values.size() + horizon == 0) fail("series: it is empty; at least one value is expected, or steps to forecast");
  SeriesGraph graph(*this, values, values.size() + horizon);
  const double log_evidence = graph.solve();
  int solves = 1;
  if (options_.on_solve) options_.on_solve(solves, log_evidence);
  SeriesAverage average(processes_);
  if (may_be_.empty()) average.add(1, graph, observation_variance());
  for (const auto& [logs, weight] : may_be_) {
    double observation = observation_variance();
    for (std::size_t i = 0; i < learned_.size(); ++i) {
      const double variance = std::exp(logs[static_cast<Eigen::Index>(i)]);
      graph.set_variance(learned_[i], variance);
      if (learned_[i] == 0) observation = variance;
    }
    const double found = graph.solve();
    if (options_.on_solve) options_.on_solve(++solves, found);
    average.add(weight, graph, observation);
  }
  Smoothed found = std::move(average).smoothed();
  found.log_evidence = log_evidence;
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
