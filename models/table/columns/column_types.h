// The types that a column may have. The first that takes all its cells, but for slips, has it.
#pragma once

#include <array>

#include "models/table/columns/column_type.h"

namespace dma {

extern const ColumnKind number_column, truth_column, duration_column, date_column, category_column, level_column;
inline constexpr std::array kColumnKinds = {&number_column, &truth_column,    &duration_column,
                                            &date_column,   &category_column, &level_column};

}  // namespace dma
