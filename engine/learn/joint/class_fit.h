// The outer loop of joint learning where rows have classes instead of numbers: one proximal step of all shared scalars,
// the prior's scale by evidence (Laplace's approximation at the mean).
#pragma once

#include <functional>

#include "engine/learn/joint/class_information.h"

namespace dma {

// Precision of scalar i: scale * precision(i) + fixed(i). Biases of the logits are fixed and wide, so that a scale
// without bound leaves the frequencies of the classes.
struct ClassPrior {
  Vector mean, precision, fixed;
  Vector at(double scale) const { return scale * precision + fixed; }
};

struct ClassEpoch {
  int epoch = 0;
  double log_evidence = 0, log_likelihood = 0;  // where the epoch began
  double effective_scalars = 0;                 // that the rows determine, of those under the scale
  double scale = 0;
};

struct ClassFitOptions {
  int epochs = 40;
  bool learn_scale = true;
  // Settled when the log evidence has changed by less than this many nats a row in three epochs in a row.
  double least_change = 2e-4;
  std::size_t jobs = 1;  // threads; no result depends on them
  std::function<bool(const ClassEpoch&)> on_epoch = {};  // false stops
};

struct ClassFit {
  Vector mean;
  double scale = 1;
  ClassFactor factor;  // of the precision at the mean
  double log_evidence = 0, effective_scalars = 0;
  int epochs = 0;
  bool settled = false, interrupted = false;
};

ClassFit fit_classes(const RowModel& model, const ClassData& data, const ClassPrior& prior, Vector start,
                     const ClassFitOptions& options);

}  // namespace dma
