// The standard protocol of the UCI regression tables: fit on the training rows of each split, score on its test rows in
// the target's units. A folder of their layout has data.txt (numbers, no header), index_features.txt, index_target.txt
// (columns from 0), index_train_<i>.txt and index_test_<i>.txt (rows from 0).
#pragma once

#include <Eigen/Dense>
#include <filesystem>
#include <string>
#include <vector>

#include "tools/experiments/commands/score_table.h"

namespace dma::uci {

struct DataFolder {
  std::string name;
  Eigen::MatrixXd inputs, targets;                     // all rows
  std::vector<std::vector<Eigen::Index>> train, test;  // rows of each split
};

// The folder itself if it is one, or those in it, by name.
std::vector<std::filesystem::path> data_folders(const std::filesystem::path& folder);
// Reads the first `splits` splits (or as many as there are). Errors name the file and what is wrong.
DataFolder read_data_folder(const std::filesystem::path& folder, std::size_t splits);
// Every tenth training row in the role of the test rows: to choose settings without looking at those.
void hold_back(DataFolder& data);

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
