// Whether a fitted model is worth saving.
#pragma once

#include <string>

#include "models/network/bnn.h"
#include "tools/dma/fit/training_data.h"

namespace dma {

// An Error if the model cannot predict the rows it learned from, or predicts numbers far from any it has seen.
// Otherwise empty, or one line of warning: its predictions miss those rows by far more than their own mean would, or
// than they say.
std::string check_fit(const Bnn& model, const TrainingData& data);

}  // namespace dma
