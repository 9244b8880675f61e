// dma fit on a target of classes.
#pragma once

#include "tools/dma/fit/fit_request.h"
#include "tools/dma/fit/training_data.h"

namespace dma {

void fit_classifier(const FitRequest& request, const TrainingData& data);

}  // namespace dma
