// dma fit --graph: a graph of one's own learned from a table.
#pragma once

#include "tools/dma/fit/fit_request.h"

namespace dma {

void fit_graph(const FitRequest& request);

}  // namespace dma
