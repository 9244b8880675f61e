// Makes the cells of a table into numbers to learn from.
#pragma once

#include "tools/dma/fit/mixed_table.h"
#include "tools/dma/fit/training_data.h"

namespace dma {

// The targets, as numbers or as places of classes, then the features; names, rules, weights and notes go into `data`.
// Rows without a target or of weight 0 are dropped. If the request is strict, a cell that is neither a number nor a
// class is an Error.
Eigen::MatrixXd read_cells(const TableRequest& request, const TableSource& source, const TableColumns& columns,
                           TrainingData& data);

}  // namespace dma
