// The standard protocol of the UCI regression tables: fit on the training rows of each split, score on its test rows in
// the target's units.
#pragma once

#include <string>

#include "tools/experiments/tables/data_folder.h"
#include "tools/experiments/tables/score_table.h"

namespace dma::uci {

struct FitChanges {  // changes to the default settings
  std::string method = {};
  bool no_neighbours = false, no_log_inputs = false;
};

std::vector<ScoreColumn> columns();
SplitScores run_split(const DataFolder& data, std::size_t split, std::uint64_t seed, const FitChanges& changes);

// Other systems, and their RMSE and log-likelihood on a set as published; "-" for sets that they do not have.
std::vector<std::string> published_systems();
std::vector<std::string> published(const std::string& set);

}  // namespace dma::uci
