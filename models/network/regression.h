// A network for a table of numbers, with settings that need no tuning: one set of constants for every data set.
#pragma once

#include <string>

#include "models/network/bnn.h"

namespace dma {

struct RegressionSettings {
  BnnOptions network;
  LearnOptions fit;
  std::string reason;  // for the method, one line
};

// Biases, standardisation and learned noise. All weights are learned jointly wherever that fits into memory and time
// (solver_form.h); beyond, or where a method is given, by messages: small mini-batches, since each must be divided out
// as a whole, by default with the `hybrid` method (leaky ReLU by expectation propagation with the linearised message
// where that is refused, product linearised).
RegressionSettings regression_settings(std::size_t inputs, std::vector<std::size_t> hidden, std::size_t outputs,
                                       std::size_t rows, const std::string& method = {});
// The same with hidden layers that joint learning chooses (BnnOptions::choose_width); messages have one of 50 units.
RegressionSettings regression_settings(std::size_t inputs, std::size_t outputs, std::size_t rows,
                                       const std::string& method = {});

// Mini-batches store a message for every weight, 16 bytes, in each member. Where all of them would take more than this
// they become larger, by as little as keeps to it; says so, or nothing. For options with a batch_size.
inline constexpr double kMostStoredBytes = 5e8;
std::string bound_stored_messages(const BnnOptions& network, std::size_t rows, LearnOptions& fit);  // changes `fit`

// Estimated time of a fit to so many rows, in seconds of one core. By a matrix over rows its products are those of the
// units of each layer with both sides, never of weights; see regression.cpp for what was measured.
double seconds_of_fit(const BnnOptions& network, const LearnOptions& fit, std::size_t rows);

}  // namespace dma
