// A series as a sum of processes in time and noise, solved jointly: smoothing, forecasts, missing values, and noise
// variances learned by evidence.
//
//  StateSpace model({local_trend(), seasonal(12)});
//  model.learn(values);                               // std::nullopt: missing
//  const Smoothed series = model.smooth(values, 24);  // and 24 steps beyond the end
//
// For values that arrive one at a time, see series_choice.h.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace dma {

// A process of a series, such as a random walk, a trend or a season. Its states follow linear rules with noise: for
// each state, a combination of it and the past is N(0, scale * variance).
struct Process {
  struct Term {
    std::size_t state = 0, lag = 0;
    double coefficient = 1;
  };
  struct Rule {  // one per state; its first term is the state itself, now
    std::vector<Term> terms;
    std::size_t noise = 0;  // index of its noise
    double scale = 1;
  };
  struct Noise {
    std::string name;
    std::optional<double> variance;  // none: learned
    // Typical variance before any data: this fraction of the variance of the series' moves per step; much less for a
    // slope, whose noise is summed twice before it is seen.
    double usual = 1;
    bool is_slope = false;
  };

  std::string name;
  std::vector<std::string> states;
  std::vector<Rule> rules;
  std::vector<Noise> noises;
  bool has_level = false;  // its first state starts at the level of the series, not around 0
  double period = 0;       // steps of a season
  // Above 0: the only state has no rule; it is a sum of as many cosines and sines of the period, with constant weights.
  std::size_t harmonics = 0;
  // The series is the sum of the first states of all processes.

  std::size_t longest_lag() const;
  // Unknowns that no rule covers.
  std::size_t start_states() const { return harmonics > 0 ? 2 * harmonics : states.size() * longest_lag(); }
};

Process random_walk(std::optional<double> variance = {});  // a level that wanders
// A level that moves by a slope; both follow random walks.
Process local_trend(std::optional<double> level_variance = {}, std::optional<double> slope_variance = {});
// Position and velocity under white accelerations of this intensity.
Process motion(std::optional<double> intensity = {});
// Any `period` consecutive values sum to noise.
Process seasonal(std::size_t period, std::optional<double> variance = {});
// A season of any length, such as 365.25 days or 52.18 weeks, whose shape stays as it is. At most period / 2 harmonics.
inline constexpr double kLongestSeason = 10'000;
Process fixed_season(double period, std::size_t harmonics);  // constant in size
// Row after row, cos(2 pi j t / period) and sin(2 pi j t / period) for j = 1, 2, ..., `harmonics`.
std::vector<double> harmonic_rows(double period, std::size_t harmonics, std::size_t length);
// x_t = coefficients[0] x_{t-1} + coefficients[1] x_{t-2} + ... + noise.
Process autoregressive(std::vector<double> coefficients, std::optional<double> variance = {});

class SeriesGraph;
struct WeightedPoint;  // weighted_points.h
struct WeightedPoints;

using SeriesValues = std::span<const std::optional<double>>;
void check_range(SeriesValues values);  // an Error for values whose variance overflows

// A covariate known at every step, including forecast steps: a price, a holiday. It adds its value times a constant
// weight.
struct SeriesInput {
  std::string name;
  std::vector<double> values;
};

struct StateSpaceOptions {
  std::optional<double> observation_variance = {};  // none: learned
  // Prior of the states before the first rule applies; none: wide relative to the data.
  std::optional<double> start_mean = {}, start_variance = {};
  std::vector<SeriesInput> inputs = {};
  // One search for the variances, which then count as known, as those of a long series do.
  bool is_rough = false;
  // Called after every solve of the whole series, of which learning needs some dozens, with the number of solves and
  // the log evidence. An exception ends the work.
  std::function<void(int solves, double log_evidence)> on_solve = {};
};

// From so many values on, learned variances count as known.
inline constexpr std::size_t kLongSeries = 500;

// One series of means and standard deviations.
struct Track {
  std::string name;
  std::vector<double> mean, sd;
};

// Predictive distribution at each step: one Gaussian component, of the value or of its logarithm.
struct SmoothedPart {
  double weight = 0;
  bool is_log = false;
  std::vector<double> mean, sd;
};

struct Smoothed {
  Track signal;                     // the sum of the processes, without observation noise
  std::vector<double> sd;           // sd of a value observed there
  std::vector<Track> states;        // "trend.level", "trend.slope", "season"
  Track weights;                    // one element per input, not per step
  double log_evidence = 0;          // log evidence of the observed values
  std::vector<SmoothedPart> parts;  // their weights sum to 1
  // Distance of each value from its prediction by all others, and of each level from its prediction by the step before,
  // both in standard deviations at the most probable variances; 0 if there is none. Beyond 3.5: an outlier or a level
  // shift.
  std::vector<double> value_surprise, level_surprise;

  // The quantile of the value at step t.
  double quantile(std::size_t t, double probability) const;
  // Makes this a mixture of itself and another posterior of the same model, which has this fraction of the weight.
  void mix(Smoothed other, double fraction);
};

// Outliers and level shifts.
struct UnusualStep {
  std::size_t t = 0;
  double surprise = 0;  // standard deviations
  bool is_level = false;
};
std::vector<UnusualStep> unusual_steps(const Smoothed& found);  // more than 3.5 standard deviations off

// More forecast steps than this are an Error.
inline constexpr std::size_t kMostForecasts = 1'000'000;
void check_forecast(std::size_t steps);  // an Error for more

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
  };
  // Finds the variances that were not given: the most probable ones, given the values and a prior (Process::Noise).
  // Needs at least three values. A short series leaves them uncertain, so weighted alternatives are kept too, around
  // every summit found by searches from several starts.
  Learned learn(SeriesValues values);
  // log p(later values | first `first` values), integrated over the learned variances; `values` are those that were
  // learned from. It compares models: the width of the start prior does not matter if the first values determine it.
  double log_predictive(SeriesValues values, std::size_t first) const;
  // Beliefs at every step of the series and of `horizon` more, averaged over the posterior of the variances. An Error
  // if a variance is neither given nor learned.
  Smoothed smooth(SeriesValues values, std::size_t horizon = 0) const;

  const std::vector<Process>& processes() const { return processes_; }        // parts of the series
  const std::vector<SeriesInput>& inputs() const { return options_.inputs; }  // covariates
  const std::vector<Variance>& variances() const { return variances_; }       // all, learned or given
  double variance(std::size_t process, std::size_t noise) const;              // variance of one noise
  // Position of that noise in variances().
  std::size_t position(std::size_t process, std::size_t noise) const { return first_variance_[process] + noise; }
  double observation_variance() const { return variances_.front().value; }  // variance of the noise of a value
  // Mean and variance of the states before the rules apply, for a series of these values.
  struct Start {
    double mean = 0, variance = 0;
  };
  Start start(SeriesValues values) const;  // given, or wide around the values

 private:
  void check_known() const;
  StateSpace with_start(const Start& start) const;
  std::vector<double> usual_variances(SeriesValues values) const;
  double set_variances(const WeightedPoint& point, SeriesGraph& graph) const;
  const std::optional<double>& given(std::size_t variance) const;

  std::vector<Process> processes_;
  StateSpaceOptions options_;
  std::vector<Variance> variances_;          // the observation's, then those of the processes
  std::vector<std::size_t> first_variance_;  // by process: position of its first variance
  std::vector<std::size_t> learned_;         // positions of learned variances
  // Logarithms of the learned variances, with weights (evidence times prior); a single point if they are known well
  // enough.
  std::shared_ptr<const WeightedPoints> may_be_;
};

}  // namespace dma
