// One network of a Bnn, for the files that implement it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "models/bnn.h"

namespace dma {

// Different streams of randomness from one seed.
inline std::uint64_t seed_of(std::uint64_t seed, std::uint64_t member, std::uint64_t purpose) {
  std::uint64_t x = seed * 0x9e3779b97f4a7c15ull + member * 0xbf58476d1ce4e5b9ull + purpose * 0x94d049bb133111ebull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

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
