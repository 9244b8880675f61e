// Rows to learn from whose cells may be anything.
#pragma once

#include "tools/dma/fit/mixed_table.h"
#include "tools/dma/fit/training_data.h"

namespace dma {

// The numbers of the targets, or the places of their classes, then of the features, whose names and rules go into
// `data` beside what there is to tell. Columns of plain numbers stay as they are; rows without a target are dropped.
Eigen::MatrixXd read_any_cells(const TableRequest& request, const TableSource& source, const TableColumns& columns,
                               TrainingData& data);

}  // namespace dma
