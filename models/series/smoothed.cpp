// Functions of Smoothed: quantiles, mixtures, unusual steps.
#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

#include "engine/messages/gaussian.h"
#include "engine/support/quadrature.h"
#include "engine/support/special_functions.h"
#include "models/series/state_space.h"

namespace dma {

namespace {

// Standard deviation of a mixture whose second component has this fraction of the weight.
double mixed_sd(double sd, double other, double fraction, double apart) {
  return std::sqrt((1 - fraction) * (sd * sd + fraction * apart * apart) + fraction * other * other);
}

void mix_tracks(Track& track, const Track& other, double fraction) {
  for (std::size_t t = 0; t < track.mean.size(); ++t) {
    const double apart = other.mean[t] - track.mean[t];
    track.mean[t] += fraction * apart;
    track.sd[t] = mixed_sd(track.sd[t], other.sd[t], fraction, apart);
  }
}

}  // namespace

void Smoothed::mix(Smoothed other, double fraction) {
  if (fraction >= 1) {
    *this = std::move(other);
    return;
  }
  for (std::size_t t = 0; t < sd.size(); ++t)
    sd[t] = mixed_sd(sd[t], other.sd[t], fraction, other.signal.mean[t] - signal.mean[t]);
  mix_tracks(signal, other.signal, fraction);
  mix_tracks(weights, other.weights, fraction);
  for (std::size_t k = 0; k < states.size(); ++k) mix_tracks(states[k], other.states[k], fraction);
  for (SmoothedPart& part : parts) part.weight *= 1 - fraction;
  for (SmoothedPart& part : other.parts) {
    part.weight *= fraction;
    parts.push_back(std::move(part));
  }
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

// An unexpected level also makes its neighbours unusual: only the most unusual step of a run is reported.
std::vector<UnusualStep> unusual_steps(const Smoothed& found) {
  constexpr double kUnusual = 3.5;  // standard deviations: one value in two thousand by chance
  std::vector<UnusualStep> steps;
  for (const bool is_level : {false, true}) {
    const std::vector<double>& surprise = is_level ? found.level_surprise : found.value_surprise;
    for (std::size_t t = 0; t < surprise.size(); ++t) {
      const double now = std::abs(surprise[t]);
      const bool is_least =
          (t > 0 && std::abs(surprise[t - 1]) > now) || (t + 1 < surprise.size() && std::abs(surprise[t + 1]) >= now);
      if (now > kUnusual && !is_least) steps.push_back({t, surprise[t], is_level});
    }
  }
  // A step that is both, a jump up and down again, is reported once.
  std::ranges::stable_sort(steps, std::greater(), [](const UnusualStep& step) { return std::abs(step.surprise); });
  std::vector<UnusualStep> told;
  for (const UnusualStep& step : steps)
    if (std::ranges::none_of(told, [&](const UnusualStep& other) {
          return (step.t > other.t ? step.t - other.t : other.t - step.t) <= 1;
        }))
      told.push_back(step);
  std::ranges::sort(told, {}, &UnusualStep::t);
  return told;
}

}  // namespace dma
