// What is known of a series under several variances, as one: see StateSpace::smooth.
#pragma once

#include <vector>

#include "models/series/series_graph.h"

namespace dma {

// The mean of the means, and what they differ by is part of the variance.
class SeriesAverage {
 public:
  explicit SeriesAverage(const std::vector<Process>& processes);

  void add(double weight, const SeriesGraph& graph, double observation_variance);
  Smoothed smoothed() &&;

 private:
  const std::vector<Process>& processes_;
  std::vector<Track> tracks_;  // sd holds the variance meanwhile
  std::vector<SmoothedPart> parts_;
  Track weights_{"weights", {}, {}};
  double weight_ = 0, observation_variance_ = 0;
};

}  // namespace dma
