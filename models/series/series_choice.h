// Chooses the processes of a series, and whether to model its values or their logarithms: by how well each value is
// predicted by those before it. Models that predict nearly as well as the best are mixed.
//
//  const SeriesChoice choice(usual_series(values, {.seasons = {12}}), values);
//  const Smoothed series = choice.smooth(values, 24);   // in the units of the values
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/series/state_space.h"

namespace dma {

// A rising line that values grow along, if they grow by about as much in each season and not by as large a fraction.
struct SeriesLine {
  double start = 1, slope = 0;
  double log_at(std::size_t t) const;  // logarithm of the line at a step
};

// From so many values on, only the last are scored.
inline constexpr std::size_t kMostToChoose = 2000;

struct SeriesCandidate {
  std::string name = {};  // "trend + season 12", without the logarithm
  std::vector<Process> processes = {};
  bool is_log = false;
  double penalty = 0;    // nats, for parameters that were fitted to the values beforehand
  SeriesLine line = {};  // logarithms are those of the ratio to it
  std::vector<std::optional<double>> scaled(SeriesValues values) const;  // the values, or those logarithms
};

enum class SeriesScale { chosen, plain, logarithm };

// Each process with all seasons and, unless seasons are required, without; of the values and, if all are above 0, of
// their logarithms; if the processes are several, a walk of the logarithms along a rising line too. Requiring
// logarithms of values that are not all above 0 is an Error.
struct UsualSeriesOptions {
  std::vector<double> seasons = {};  // in steps; those of 60 whole steps or less may change their shape
  bool seasons_are_certain = true;
  std::vector<Process> processes = {local_trend(), random_walk()};
  bool with_autoregression = true;  // around a mean, with coefficients fitted to the values
  SeriesScale scale = SeriesScale::chosen;
};
std::vector<SeriesCandidate> usual_series(SeriesValues values, const UsualSeriesOptions& options = {});  // candidates

// By name: "auto", "walk", "trend", "ar", "motion", or "ar:0.6,-0.3", around 0 and with these coefficients.
UsualSeriesOptions series_named(const std::string& model);

class SeriesChoice {
 public:
  // Candidates with too few values are dropped; if that would drop all, the smallest stays.
  struct Options {
    std::vector<SeriesInput> inputs = {};  // shared by all candidates
    std::size_t horizon = 0;               // steps to forecast: beyond one, forecasts of as many count as well
    std::function<void(const std::string& name, int solves)> on_solve = {};
  };
  SeriesChoice(std::vector<SeriesCandidate> candidates, SeriesValues values, Options options);
  SeriesChoice(std::vector<SeriesCandidate> candidates, SeriesValues values)
      : SeriesChoice(std::move(candidates), values, Options{}) {}

  struct Scored {
    SeriesCandidate candidate;
    StateSpace model;
    StateSpace::Learned learned;
    // log p(later values | first values), of the values themselves also if logarithms are modelled; and for a horizon,
    // twice the mean log density of each of up to eight such forecasts.
    double score = 0;
    double weight = 0;      // in the mixture
    bool is_rough = false;  // far below the best at a first look, and not looked at again
  };
  const std::vector<Scored>& models() const { return models_; }  // best first
  const Scored& best() const { return models_.front(); }         // model of the highest score
  std::size_t scored_from() const { return first_; }             // first scored step; 0: there was only one candidate

  // Values are mixtures over the models. Signal, states and surprises are those of the best model, states as logarithms
  // if it has them.
  Smoothed smooth(SeriesValues values, std::size_t horizon = 0) const;

 private:
  std::vector<Scored> models_;
  std::size_t first_ = 0;
};

// The numbers of "7,365.25"; none for other text.
std::optional<std::vector<double>> listed_numbers(std::string_view text);

std::string series_name(const SeriesCandidate& candidate);  // "trend + season 12 of the logarithm"

// The options that `dma smooth` and dma.smooth() have in common.
struct SeriesRequest {
  std::string model = "auto";                       // see series_named()
  std::optional<std::vector<double>> seasons = {};  // none: those that the values show
  std::optional<bool> log = {};                     // none: chosen
};
// The choice among the models that are requested. The usual seasons are tried if the values show them.
SeriesChoice requested_series(SeriesValues values, const SeriesRequest& request,
                              const std::vector<double>& usual_seasons, SeriesChoice::Options options);

// Online filtering: the posterior of a series' states after each new value, without storing earlier values.
//
//  SeriesFilter filter(model, first_values);       // a StateSpace with known variances
//  const auto next = filter.forecast();            // of the next value
//  filter.add(3.2);                                // or std::nullopt
//
// The posterior of the latest states, with its correlations, is the prior of the next step.
class SeriesFilter {
 public:
  // Starts after these values: at least as many as the longest lag of a process.
  SeriesFilter(StateSpace model, SeriesValues first_values);
  ~SeriesFilter();
  SeriesFilter(SeriesFilter&&) noexcept;

  struct Forecast {
    double mean = 0, variance = 0;  // the value's, including its noise
  };
  Forecast forecast() const;  // next value
  // Posterior of the signal at the step just added.
  struct Estimate {
    double mean = 0, variance = 0;
  };
  Estimate add(std::optional<double> value);  // none: missing

 private:
  struct Step;
  std::unique_ptr<Step> step_;
};

}  // namespace dma
