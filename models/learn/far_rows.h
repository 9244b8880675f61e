// Rows that lie far from what all others predict, such as values in other units: they are set aside where that makes
// the log density of all rows better.
#pragma once

#include "models/learn/table_learner.h"

namespace dma {

// Fits all rows, then once more without those that are far, as long as others come to light. Until the last of these
// fits has ended the learner stays that of all rows: it is what a checkpoint has, and the others are made again.
TableReport fit_without_far_rows(TableLearner& learner, const TableRows& rows, const TableFit& fit);

// All rows but some, which are sorted.
std::vector<Index> rows_but(const std::vector<Index>& some, Index rows);

// Log density of all rows, learned ones left out. A row is far with the probability of their fraction, and then
// Gaussian about its prediction, as wide as they lie; each of these numbers costs half the logarithm of the rows.
double score_with_far(TableLearner& learner, const TableRows& rows);

}  // namespace dma
