#include "models/series/series_average.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <numbers>

#include "engine/messages/gaussian.h"
#include "engine/support/quadrature.h"
#include "engine/support/special_functions.h"

namespace dma {

namespace {

// Adds a belief with this fraction of the total weight so far.
void add_to_track(double fraction, const Belief& belief, double shift, Track& track) {
  track.mean.resize(belief.size());
  track.sd.resize(belief.size());
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
  if (const auto weights = graph.weights()) add_to_track(fraction, *weights, 0, weights_);
  observation_variance_ += fraction * (observation_variance - observation_variance_);
  SmoothedPart& part = parts_.emplace_back(SmoothedPart{weight, false, {}, {}});
  const Belief signal = graph.signal();
  for (std::size_t t = 0; t < signal.size(); ++t) {
    part.mean.push_back(signal.mean(t) + graph.shift());
    part.sd.push_back(std::sqrt(signal.variance(t) + observation_variance));
  }
}

Smoothed SeriesAverage::smoothed() && {
  Smoothed found;
  tracks_.push_back(std::move(weights_));
  for (Track& track : tracks_)
    for (double& sd : track.sd) sd = std::sqrt(sd);
  found.weights = std::move(tracks_.back());
  tracks_.pop_back();
  found.signal = std::move(tracks_.front());
  for (const double sd : found.signal.sd) found.sd.push_back(std::sqrt(sd * sd + observation_variance_));
  found.parts = std::move(parts_);
  for (SmoothedPart& part : found.parts) part.weight /= weight_;
  found.states.assign(std::move_iterator(tracks_.begin() + 1), std::move_iterator(tracks_.end()));
  return found;
}

double Smoothed::quantile(std::size_t t, double probability) const {
  const double z = normal_quantile(probability);
  double low = kInfinity, high = -kInfinity;
  for (const SmoothedPart& part : parts) {
    const double at = part.mean[t] + z * part.sd[t], value = part.is_log ? std::exp(at) : at;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  const auto excess = [&](double value) {
    double sum = -probability;
    for (const SmoothedPart& part : parts) {
      const double at = part.is_log ? std::log(std::max(value, 0.0)) : value;
      sum += part.weight * 0.5 * std::erfc((part.mean[t] - at) / (part.sd[t] * std::numbers::sqrt2));
    }
    return sum;
  };
  const double at_low = excess(low), at_high = excess(high);
  if (!(high > low) || !(at_low < 0)) return low;
  if (!(at_high > 0)) return high;
  return quadrature::bracket_root(std::cref(excess), low, high, at_low, at_high, 40).middle();
}

}  // namespace dma
