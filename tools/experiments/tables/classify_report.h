// The scores of classifiers on several tables, for people and for programs.
#pragma once

#include <string>
#include <vector>

#include "models/files/readable_json.h"
#include "tools/experiments/tables/cross_validation.h"

namespace dma::classify {

// One line: "iris  10 folds  accuracy 0.967  log-loss 0.078 ...".
std::string line(const TableResult& result);
std::string markdown(const std::vector<TableResult>& results, bool held_out);
Json json(const std::vector<TableResult>& results);

}  // namespace dma::classify
