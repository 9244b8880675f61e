// Reproducible random messages, log-uniform over a named range.
#pragma once

#include <boost/random/mersenne_twister.hpp>
#include <boost/random/uniform_01.hpp>
#include <cmath>
#include <cstdint>
#include <string>

#include "engine/messages/gaussian.h"

namespace dma::oracle {

struct Interval {
  double low, high;
};

struct Range {
  std::string name;
  Interval signal;  // |mean| / sd
  Interval variance;
  double tolerance;  // accuracy promised in this range
};

// At most a few hundred roundings lie between a message's inputs and its output, and in the ordinary range none of them
// is amplified by more than the |mean|^2 / variance <= 100 in the exponent of phi.
inline const Range kOrdinary{"ordinary", {1e-3, 10}, {1e-6, 1e6}, 1e-12};
// Here half of a double's digits are promised, for any messages.
inline const Range kFar{"far", {1e-12, 1e12}, {1e-100, 1e100}, 1e-8};

class RandomMessages {
 public:
  explicit RandomMessages(std::uint64_t seed) : engine_(seed) {}

  double uniform() { return unit_(engine_); }
  bool chance(double probability) { return uniform() < probability; }
  double sign() { return chance(0.5) ? 1 : -1; }
  double log_uniform(Interval i) { return i.low * std::pow(i.high / i.low, uniform()); }
  double slope() { return log_uniform({1e-6, 1}); }

  Gaussian proper(const Range& range) {
    const double signal = sign() * log_uniform(range.signal);
    const double variance = log_uniform(range.variance);
    return {signal / std::sqrt(variance), 1 / variance};
  }

  // Any valid message: mostly far-range messages, among them uniform ones, point masses (some of them at 0), zero
  // means, and pairs of natural parameters from nearly the whole range of a double.
  Gaussian any() {
    const double kind = uniform();
    if (kind < 0.08) return Gaussian::uniform();
    if (kind < 0.12) return Gaussian::point(0);
    if (kind < 0.18) return Gaussian::point(sign() * log_uniform({1e-60, 1e60}));
    if (kind < 0.20) return {0, log_uniform(kFar.variance)};
    if (kind < 0.30) return {sign() * extreme(), extreme()};
    return proper(kFar);
  }

 private:
  double extreme() { return std::exp(-700 + 1400 * uniform()); }

  boost::random::mt19937_64 engine_;
  boost::random::uniform_01<double> unit_;
};

}  // namespace dma::oracle
