// Pictures of a fitted network.
#pragma once

#include "models/files/bnn_file.h"
#include "tools/dma/fit/training_data.h"
#include "tools/dma/pictures/gnuplot.h"

namespace dma {

// One panel per target. With one input column: predictive mean, band of two standard deviations, data, and the range of
// the data as dashed verticals. Otherwise: predicted against observed with error bars, of the held-out rows if there
// are any.
plot::Figure fit_figure(Bnn& net, const TrainingData& data);

// Train log-likelihood against epochs, one line per member.
plot::Figure training_figure(const SavedBnn& saved);

}  // namespace dma
