// The Hinton diagram of a network or a classifier.
#pragma once

#include "models/classifier/classifier.h"
#include "models/network/bnn.h"
#include "tools/dma/pictures/figure.h"

namespace dma {

// The weight beliefs of the first member, one panel per layer, a row per unit and a column per input (the bias last):
// area by |posterior mean|, transparency by posterior variance (opaque is certain), colour by sign.
plot::Figure hinton_figure(const Bnn& net);
// The same of the model with the largest fraction of a classifier; an Error where only class frequencies were learned.
plot::Figure hinton_figure(const Classifier& classifier);

}  // namespace dma
