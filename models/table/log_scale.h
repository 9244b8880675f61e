// Columns of a table that are read on a logarithmic scale. Amounts, counts and durations often spread over powers of
// ten: rows then crowd at one end, and a ratio says more than a difference.
#pragma once

#include <cstdint>

#include "engine/learn/gaussian/program/row_model.h"

namespace dma {

// One number per column (Standardiser::log_from): 0, or the number from which on the column is logarithmic. That is its
// smallest, if it is above 0, the column is skewed to the right, and its logarithm less than half as skewed. Empty: no
// column is logarithmic.
Eigen::RowVectorXd skewed_from(const Matrix& rows, const Vector& weights = {});

// The same for inputs, by a sample of the rows. Targets may speak against it: what a linear model of all columns
// leaves, and the column's own part of it, are then likelier under a smooth function of the column as it is.
Eigen::RowVectorXd log_scales_of(const Matrix& rows, const Matrix& targets, std::uint64_t seed,
                                 const Vector& weights = {});

}  // namespace dma
