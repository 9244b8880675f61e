// A network for a table of numbers, with settings that need no tuning: one set of constants for every data set.
#pragma once

#include "models/bnn.h"

namespace dma {

struct RegressionSettings {
  BnnOptions network;
  LearnOptions fit;
};

// Biases, standardisation and learned noise; the `hybrid` method (leaky ReLU by expectation propagation with the linearised
// message where that is refused, product linearised); a tempered posterior (evidence_weight), because a factorised belief
// underfits; small batches, since each must be divided out as a whole.
RegressionSettings regression_settings(std::size_t inputs, std::vector<std::size_t> hidden, std::size_t outputs,
                                       std::size_t rows);

// Every row's evidence counts that many times, in the first epoch once.
void set_tempering(LearnOptions& fit, double times);

}  // namespace dma
