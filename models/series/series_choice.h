// Which processes a series is made of, and whether it or its logarithm is: chosen by how well each value is said by
// those before it, and mixed where several do so nearly as well.
//
//   const SeriesChoice choice(usual_series(values, {.seasons = {12}}), values);
//   const Smoothed series = choice.smooth(values, 24);   // in the units of the values
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "models/series/state_space.h"

namespace dma {

struct SeriesCandidate {
  std::string name;  // "trend + season 12", without the logarithm
  std::vector<Process> processes;
  bool is_log = false;
  double penalty = 0;  // nats, for numbers that were fitted to the values beforehand
};

enum class SeriesScale { chosen, plain, logarithm };

// Each of the processes with all of the seasons and, where they need not be there, without; of the values and, where
// all are above 0, of their logarithms. An Error where logarithms are asked for and there are none.
struct UsualSeriesOptions {
  std::vector<std::size_t> seasons = {};
  bool seasons_are_certain = true;
  std::vector<Process> processes = {random_walk(), local_trend()};
  bool with_autoregression = true;  // around a mean, with coefficients that are fitted to the values
  SeriesScale scale = SeriesScale::chosen;
};
std::vector<SeriesCandidate> usual_series(SeriesValues values, const UsualSeriesOptions& options = {});

// By name: "auto", "walk", "trend", "ar", "motion", or "ar:0.6,-0.3", around 0 and with these coefficients.
UsualSeriesOptions series_named(const std::string& model);

class SeriesChoice {
 public:
  // Candidates that the values are too few for are left out; if that is all of them, the smallest stays.
  struct Options {
    std::vector<SeriesInput> inputs = {};  // of all candidates
    std::function<void(const std::string& name, int solves)> on_solve = {};
  };
  SeriesChoice(std::vector<SeriesCandidate> candidates, SeriesValues values, Options options);
  SeriesChoice(std::vector<SeriesCandidate> candidates, SeriesValues values)
      : SeriesChoice(std::move(candidates), values, Options{}) {}

  struct Scored {
    SeriesCandidate candidate;
    StateSpace model;
    StateSpace::Learned learned;
    double score = 0;   // log p(values after the first few | those): of the values, also where logarithms are modelled
    double weight = 0;  // in the mixture
  };
  const std::vector<Scored>& models() const { return models_; }  // the best first
  const Scored& best() const { return models_.front(); }
  std::size_t scored_from() const { return first_; }  // the step after the first few; 0: there was only one candidate

  // Values are a mixture of what the models say. Signal, states and surprises are those of the best, the states in
  // logarithms where it has them.
  Smoothed smooth(SeriesValues values, std::size_t horizon = 0) const;

 private:
  std::vector<Scored> models_;
  std::size_t first_ = 0;
};

std::string series_name(const SeriesCandidate& candidate);  // "log(y): trend + season 12"

}  // namespace dma
