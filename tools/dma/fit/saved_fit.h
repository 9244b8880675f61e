// A fitted network on its way into a model file.
#pragma once

#include "models/files/bnn_file.h"
#include "tools/dma/fit/training_data.h"

namespace dma {

// Members that an interruption left without a single epoch are no part of the model. An Error if whoever reads the file
// would refuse it.
SavedBnn saved_fit(const Bnn& net, const TrainingData& data, const LearnOptions& options, const FitReport& report);

// More rows on top of those that both know, the network and what is to be saved of it. Whether the update settled.
bool learn_more(Bnn& net, SavedBnn& saved, const Eigen::MatrixXd& inputs, const Eigen::MatrixXd& outputs,
                const Eigen::VectorXd& weights = {});

}  // namespace dma
