// The smoothing of a network's kinks, chosen by evidence: wide for gentle functions of many inputs, narrow for steep
// ones of few.
#pragma once

#include <cstdint>

#include "engine/learn/joint/fit.h"
#include "models/network/bnn_graph.h"

namespace dma {

// The shape's own smoothing, unless the evidence of another one among {1, 0.5, 0.2}, of one or two inputs also 0.07, is
// clearly better after some epochs on as many rows as cost little: 3e7 products an epoch. Tables whose epochs are dear
// (above 4e8 products, and rows not so many that learning begins on subsets) and those too small to tell keep theirs.
double choose_smoothing(const BnnShape& shape, const SharedPrior& prior, const SharedState& start,
                        const RowData& data, SharedFitOptions options, std::uint64_t seed);

}  // namespace dma
