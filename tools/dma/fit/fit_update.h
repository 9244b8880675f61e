// dma fit --update: rows added to a fitted model, without the old ones.
#pragma once

#include "tools/dma/fit/fit_request.h"

namespace dma {

void fit_update(const FitRequest& request);

}  // namespace dma
