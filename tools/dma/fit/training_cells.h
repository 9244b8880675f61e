// Cells of a table as the numbers to learn from.
#pragma once

#include "tools/dma/fit/mixed_table.h"
#include "tools/dma/fit/training_data.h"

namespace dma {

// The numbers of the targets, or the places of their classes, then of the features, whose names and rules go into
// `data` beside the weights and what there is to tell. Columns of plain numbers stay as they are; rows without a
// target, and those of weight 0, are dropped. An Error where the request is strict and a cell is neither a number nor a
// class.
Eigen::MatrixXd read_cells(const TableRequest& request, const TableSource& source, const TableColumns& columns,
                           TrainingData& data);

}  // namespace dma
