// The posterior of a series averaged over several variances: see StateSpace::smooth.
#pragma once

#include <vector>

#include "models/series/series_graph.h"

namespace dma {

// Means are averaged, and their spread is added to the variance.
class SeriesAverage {
 public:
  explicit SeriesAverage(const std::vector<Process>& processes);

  void add(double weight, const SeriesGraph& graph, double observation_variance);
  Smoothed smoothed() &&;

 private:
  const std::vector<Process>& processes_;
  std::vector<Track> tracks_;  // `sd` holds variances until the end
  std::vector<SmoothedPart> parts_;
  Track weights_{"weights", {}, {}};
  double weight_ = 0, observation_variance_ = 0;
};

}  // namespace dma
