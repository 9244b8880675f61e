// Other fits of the same rows, each taken where it predicts left-out rows better: with an effect for each value of
// columns that have many, without rows that lie far from what all others predict, such as values in other units, and by
// the logarithms of targets that are positive and skewed to the right, with errors in ratio to their size.
#pragma once

#include "models/learn/table_learner.h"

namespace dma {

// Fits all rows, then tries the others. Until effects and far rows are settled the learner stays that of all rows: it
// is what a checkpoint has, and the others are made again.
TableReport fit_with_attempts(TableLearner& learner, const TableRows& rows, const TableFit& fit);

}  // namespace dma
