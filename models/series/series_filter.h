// Online filtering: the posterior of a series' states after each new value, without storing earlier values.
//
//  SeriesFilter filter(model, first_values);       // a StateSpace with known variances
//  const auto next = filter.forecast();            // of the next value
//  filter.add(3.2);                                // or std::nullopt
//
// The posterior of the latest states, with its correlations, is the prior of the next step.
#pragma once

#include <memory>
#include <optional>

#include "models/series/state_space.h"

namespace dma {

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
