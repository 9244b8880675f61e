// The mean and variance of a mixture of Gaussians.
#pragma once

#include "engine/messages/gaussian.h"

namespace dma {

class MixedMoments {
 public:
  void add(double share, const Gaussian& g) {
    if (share == 0) return;
    is_unknown_ |= g.is_uniform();
    const double deviation = g.mean() - mean_, before = weight_;
    weight_ += share;
    mean_ += deviation * (share / weight_);
    square_ += share * (g.variance() + deviation * deviation * (before / weight_));
  }
  // The Gaussian with these moments; uniform if nothing was added, or a component is uniform.
  Gaussian projected() const {
    if (weight_ == 0 || is_unknown_) return {};
    return Gaussian::from_moments(mean_, square_ / weight_);
  }

 private:
  double weight_ = 0, mean_ = 0, square_ = 0;  // square_: weighted squared deviations from the mean
  bool is_unknown_ = false;
};

}  // namespace dma
