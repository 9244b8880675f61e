// One network of a Bnn, for the files that implement it.
#pragma once

#include <memory>
#include <vector>

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

}  // namespace dma
