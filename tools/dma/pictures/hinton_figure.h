// The Hinton diagram of a network.
#pragma once

#include "models/learn/table_method.h"
#include "tools/dma/pictures/figure.h"

namespace dma {

// The weight beliefs of the first member, one panel per layer, a row per unit and a column per input (the bias last):
// area by |posterior mean|, transparency by posterior variance (opaque is certain), colour by sign.
plot::Figure hinton_figure(const TableMethod& method);

}  // namespace dma
