// What a model is and how it was trained, for people and for programs.
#pragma once

#include <string>

#include "models/files/bnn_file.h"

namespace dma {

std::string summary_text(const SavedBnn& saved);
Json summary_json(const SavedBnn& saved);

// One row per layer: how far the data have moved and narrowed the beliefs of its weights.
std::string weights_text(const Bnn& net);
Json weights_json(const Bnn& net);

// Train log-likelihoods are kept in standardised units; less this they are in the units of the data.
double mean_log_scale(const Standardiser& targets);
// The inputs that are read by their logarithms.
std::vector<std::string> logged_inputs(const Standardiser& inputs, const std::vector<std::string>& features);
// Log evidence, or train log-likelihood, a row after every epoch of every member, in the units of the data.
std::vector<std::vector<double>> training_curves(const SavedBnn& saved);

// One sentence per target that a person can act on, from rows predicted as if left out: none where these are not known.
std::vector<std::string> honest_sentences(const SavedBnn& saved);

}  // namespace dma
