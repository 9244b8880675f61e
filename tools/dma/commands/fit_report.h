// The output of `dma fit` about the table and the model, and the files it writes.
#pragma once

#include "tools/dma/commands/fit_learn.h"

namespace dma {

// Ends the program if learning was ended by a signal.
void report_fit(const FitRequest& request, Learned& learned, const TrainingData& data, FitEnd& end, FitTeam& team);

}  // namespace dma
