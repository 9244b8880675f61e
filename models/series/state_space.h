// A series as a sum of processes in time and noise, all of it solved jointly: smoothed, forecast, with values missing,
// and with the variances of its noises learned by evidence.
//
//   StateSpace model({local_trend(), seasonal(12)});
//   model.learn(values);                               // std::nullopt: missing
//   const Smoothed series = model.smooth(values, 24);  // and 24 steps beyond the end
//
// A series that arrives one value at a time: see series_filter.h.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/series/series_process.h"
#include "models/series/weighted_points.h"

namespace dma {

class SeriesGraph;

using SeriesValues = std::span<const std::optional<double>>;
void check_range(SeriesValues values);  // an Error for numbers whose variance a double cannot hold

// Something else that is known at every step, those to be forecast included: a price, a holiday. It adds its value
// times a weight that does not change.
struct SeriesInput {
  std::string name;
  std::vector<double> values;
};

struct StateSpaceOptions {
  std::optional<double> observation_variance = {};  // none: to be learned
  // Of the states before the first rule applies; none: wide beside what is observed.
  std::optional<double> start_mean = {}, start_variance = {};
  std::vector<SeriesInput> inputs = {};
  // Called after every solve of the whole series, of which learning needs some dozens: how many there were, and the log
  // evidence. What it throws ends the work.
  std::function<void(int solves, double log_evidence)> on_solve = {};
};

// One series of means and standard deviations.
struct Track {
  std::string name;
  std::vector<double> mean, sd;
};

// What a value may be at each step: one of the Gaussians that are mixed, of the value or of its logarithm.
struct SmoothedPart {
  double weight = 0;
  bool is_log = false;
  std::vector<double> mean, sd;
};

struct Smoothed {
  Track signal;                     // the sum of the processes, without the observation's noise
  std::vector<double> sd;           // of a value observed there
  std::vector<Track> states;        // "trend.level", "trend.slope", "season"
  Track weights;                    // one element for each input, not for each step
  double log_evidence = 0;          // of the values observed
  std::vector<SmoothedPart> parts;  // their weights sum to 1
  // How far each value is from what all others say of it, and each level from where the one before leads, both in
  // standard deviations, at the most probable variances; 0 where there is none. Beyond 3.5: an outlier, a level shift.
  std::vector<double> value_surprise, level_surprise;

  // The value at step t that is not exceeded with this probability.
  double quantile(std::size_t t, double probability) const;
};

// Values that the others do not expect, and levels that the step before does not.
struct UnusualStep {
  std::size_t t = 0;
  double surprise = 0;  // standard deviations
  bool is_level = false;
};
std::vector<UnusualStep> unusual_steps(const Smoothed& found);

// Of more steps than these nothing is forecast: an Error.
inline constexpr std::size_t kMostForecasts = 1'000'000;
void check_forecast(std::size_t steps);

class StateSpace {
 public:
  explicit StateSpace(std::vector<Process> processes, StateSpaceOptions options = {});

  struct Variance {
    std::string name;  // "observation", "trend.slope"
    double value = 0;
    bool learned = false;
  };
  struct Learned {
    double log_evidence = 0;  // at the variances found
    int evaluations = 0;
    bool converged = false;
    int summits = 1;  // of their posterior
  };
  // Finds the variances that were not given: the most probable ones, given the values and what is usual
  // (Process::Noise). At least three values. A series that is not long leaves them uncertain, so that other variances
  // with their weights are kept beside them, around every summit that searches from several starts have found.
  Learned learn(SeriesValues values);
  // log p(values after the first `first` | those), integrated over the learned variances; `values` are those that were
  // learned from. It compares models: how wide the start is does not matter where the first values determine it.
  double log_predictive(SeriesValues values, std::size_t first) const;
  // Beliefs at every step of the series and of `horizon` more, averaged over the variances that may be. An Error where
  // a variance is neither given nor learned.
  Smoothed smooth(SeriesValues values, std::size_t horizon = 0) const;

  const std::vector<Process>& processes() const { return processes_; }
  const std::vector<SeriesInput>& inputs() const { return options_.inputs; }
  const std::vector<Variance>& variances() const { return variances_; }
  double variance(std::size_t process, std::size_t noise) const;
  // Of that noise among variances().
  std::size_t position(std::size_t process, std::size_t noise) const { return first_variance_[process] + noise; }
  double observation_variance() const { return variances_.front().value; }
  // Mean and variance of the states that come before the rules, for a series of these values.
  struct Start {
    double mean = 0, variance = 0;
  };
  Start start(SeriesValues values) const;

 private:
  void check_known() const;
  StateSpace with_start(const Start& start) const;
  std::vector<double> usual_variances(SeriesValues values) const;
  double set_variances(const WeightedPoint& point, SeriesGraph& graph) const;
  const std::optional<double>& given(std::size_t variance) const;

  std::vector<Process> processes_;
  StateSpaceOptions options_;
  std::vector<Variance> variances_;          // the observation's, then those of the processes
  std::vector<std::size_t> first_variance_;  // process -> its first
  std::vector<std::size_t> learned_;         // variances
  // Logarithms of the learned variances; one point: they are known well enough. Their mass: evidence times prior.
  WeightedPoints may_be_;
};

}  // namespace dma
