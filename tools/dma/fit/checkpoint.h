// A fit that was stopped, to go on from. A resumed fit ends with the same bytes as one that was never stopped.
#pragma once

#include <filesystem>
#include <string>

#include "models/files/bnn_file.h"
#include "tools/dma/fit/training_data.h"

namespace dma {

// Without a path nothing is written: what other processes of a team do.
void save_checkpoint(const std::filesystem::path& path, const Bnn& net, const TrainingData& data,
                     const LearnOptions& options);

// The network where the checkpoint left it. The data and all options but epochs, tolerance, patience and least gain
// must be those of the checkpoint; the Error names the first that is not.
Bnn resume_from(const std::filesystem::path& path, const TrainingData& data, const BnnOptions& network,
                const LearnOptions& options);

}  // namespace dma
