// dma fit on a target of classes.
#pragma once

#include "tools/dma/fit_request.h"
#include "tools/dma/training_data.h"

namespace dma {

void fit_classifier(const FitRequest& request, const TrainingData& data);

}  // namespace dma
