// A series that arrives one value at a time: what is known of its states after each, without the values before.
//
//   SeriesFilter filter(model, first_values);       // a StateSpace whose variances are known
//   const auto next = filter.forecast();            // of the next value
//   filter.add(3.2);                                // or std::nullopt
//
// The posterior of the latest states, with its correlations, is the prior of the next step.
#pragma once

#include <Eigen/Core>
#include <memory>
#include <optional>

#include "models/series/state_space.h"

namespace dma {

class SeriesFilter {
 public:
  // Begins after these values: at least as many as the longest memory of a process.
  SeriesFilter(StateSpace model, SeriesValues first_values);
  ~SeriesFilter();
  SeriesFilter(SeriesFilter&&) noexcept;

  struct Forecast {
    double mean = 0, variance = 0;  // of the value, its noise included
  };
  Forecast forecast() const;
  // What is now known of the signal at the step just added.
  struct Estimate {
    double mean = 0, variance = 0;
  };
  Estimate add(std::optional<double> value);

 private:
  struct Step;
  std::unique_ptr<Step> step_;
};

}  // namespace dma
