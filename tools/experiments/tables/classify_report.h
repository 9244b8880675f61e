// The scores of classifiers on several tables, as text.
#pragma once

#include <string>
#include <vector>

#include "tools/experiments/tables/cross_validation.h"

namespace dma::classify {

std::string markdown(const std::vector<TableResult>& results, bool held_out);

}  // namespace dma::classify
