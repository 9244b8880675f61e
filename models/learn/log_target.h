// Targets that are learned by their logarithms: positive, skewed to the right, with errors in ratio to their size.
#pragma once

#include "models/learn/table_learner.h"

namespace dma {

// After a fit one more, of the logarithms of such targets. It is taken where it makes left-out rows more probable, each
// as the number it is, and predicts them about as well.
void try_logarithms(TableLearner& learner, const TableRows& rows, const TableFit& fit, double seconds_taken);

}  // namespace dma
