// One network of a Bnn, for the files that implement it.
#pragma once

#include <memory>
#include <vector>

#include "engine/support/error.h"
#include "models/bnn.h"

namespace dma {

struct Bnn::Member {
  std::vector<LayerPrior> priors;
  BnnGraph net;
  std::vector<double> noise_variance;  // per output, standardised
  std::unique_ptr<Learner> learner;

  std::vector<EpochRecord> joint_epochs;         // where all weights are learned jointly
  mutable std::vector<Gaussian> joint_weights;  // their marginals, once somebody asked

  bool is_fitted() const { return !learner->memory().epochs.empty() || !joint_epochs.empty(); }
};

// Of rows in the units and features of a network.
inline void check_prepared(const auto& x, const auto& y, std::size_t features) {
  if (!x.allFinite() || !y.allFinite()) fail("fit: the data lie too far from those that were learned to be told in numbers");
  if (static_cast<std::size_t>(x.cols()) != features)
    fail("fit: the inputs make {} features but the first layer has {}", x.cols(), features);
}

}  // namespace dma
