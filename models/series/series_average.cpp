#include "models/series/series_average.h"

#include <cmath>
#include <iterator>

namespace dma {

namespace {

// A belief that is this fraction of all so far.
void add_to_track(double fraction, const Belief& belief, double shift, Track& track) {
  track.mean.resize(belief.size()), track.sd.resize(belief.size());
  for (std::size_t t = 0; t < belief.size(); ++t) {
    const double apart = belief.mean(t) + shift - track.mean[t];
    track.mean[t] += fraction * apart;
    track.sd[t] += fraction * (belief.variance(t) - track.sd[t] + (1 - fraction) * apart * apart);
  }
}

}  // namespace

SeriesAverage::SeriesAverage(const std::vector<Process>& processes) : processes_(processes) {
  tracks_.push_back({"signal", {}, {}});
  for (const Process& process : processes)
    for (const std::string& name : process.states)
      tracks_.push_back({name == process.name ? name : process.name + "." + name, {}, {}});
}

void SeriesAverage::add(double weight, const SeriesGraph& graph, double observation_variance) {
  const double fraction = weight / (weight_ += weight);
  auto next = tracks_.begin();
  add_to_track(fraction, graph.signal(), graph.shift(), *next++);
  for (std::size_t k = 0; k < processes_.size(); ++k)
    for (std::size_t s = 0; s < processes_[k].states.size(); ++s)
      add_to_track(fraction, graph.state(k, s), s == 0 && k == graph.leading_level() ? graph.shift() : 0, *next++);
  observation_variance_ += fraction * (observation_variance - observation_variance_);
}

Smoothed SeriesAverage::smoothed() && {
  Smoothed found;
  for (Track& track : tracks_)
    for (double& sd : track.sd) sd = std::sqrt(sd);
  found.signal = std::move(tracks_.front());
  for (const double sd : found.signal.sd) found.sd.push_back(std::sqrt(sd * sd + observation_variance_));
  found.states.assign(std::move_iterator(tracks_.begin() + 1), std::move_iterator(tracks_.end()));
  return found;
}

}  // namespace dma
