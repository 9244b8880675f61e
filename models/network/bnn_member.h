// One network of a Bnn, for the files that implement it.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "engine/support/checksum.h"
#include "engine/support/usable.h"
#include "models/network/bnn.h"

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
  // Of joint learning: made where somebody asks what a network says before its fit.
  mutable std::unique_ptr<Learner> learner;

  std::vector<EpochRecord> joint_epochs;  // where all weights are learned jointly
  mutable std::mutex asking;  // several threads may at once, for these:
  // Their marginals.
  mutable std::vector<Gaussian> joint_weights;
  mutable std::unique_ptr<Graph> whole;  // of the first member: the whole model

  bool is_fitted() const { return !joint_epochs.empty() || (learner && !learner->memory().epochs.empty()); }
};

// Gives equally weighted networks their fraction of the mixture, and the components of the linear model the rest.
void add_baseline(std::vector<PredictionComponent> linear, double network_fraction,
                  std::vector<PredictionComponent>& networks);

// By which the same rows are recognised.
inline std::uint64_t checksum_of(const Eigen::MatrixXd& inputs, const Eigen::MatrixXd& targets,
                                 const Eigen::MatrixXd& weights = {}) {
  Checksum sum;
  for (const Eigen::MatrixXd* matrix : {&inputs, &targets, &weights}) {
    if (matrix->size() == 0) continue;
    const Eigen::Index shape[] = {matrix->rows(), matrix->cols()};
    sum.add({reinterpret_cast<const unsigned char*>(shape), sizeof shape});
    sum.add({reinterpret_cast<const unsigned char*>(matrix->data()),
             static_cast<std::size_t>(matrix->size()) * sizeof(double)});
  }
  return sum.value();
}

// Of rows in the units and features of a network.
inline void check_prepared(const auto& x, const auto& y, std::size_t features) {
  if (!is_moderate(x) || !is_moderate(y))
    fail(
        "fit: values above {} overflow when they are multiplied; let columns be standardised (--standardise), or use "
        "other units",
        kLargestUsable);
  if (static_cast<std::size_t>(x.cols()) != features)
    fail("fit: the inputs make {} features but the first layer has {}", x.cols(), features);
}

}  // namespace dma
