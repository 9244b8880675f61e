// A fitted network on its way into a model file.
#pragma once

#include "models/bnn_file.h"
#include "tools/dma/training_data.h"

namespace dma {

// Members that an interruption left without a single epoch are no part of the model. An Error if whoever reads the file
// would refuse it.
SavedBnn saved_fit(const Bnn& net, const TrainingData& data, const LearnOptions& options, const FitReport& report);

}  // namespace dma
