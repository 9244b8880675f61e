// Examples as rows of numbers.
#pragma once

#include <string_view>
#include <vector>

#include "engine/learn/gaussian/learner.h"

namespace dma {

// The columns of `variables`, one example per row, then those of `tables`. `what` is the call that errors name.
Matrix gather_rows(const Graph& graph, const std::vector<VariableId>& variables,
                   const std::vector<RowProgram::Table>& tables, const Data& data, std::string_view what);

}  // namespace dma
