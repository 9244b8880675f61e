// A folder of the layout of the UCI regression benchmarks: data.txt (numbers, no header), index_features.txt,
// index_target.txt (columns from 0), index_train_<i>.txt, index_test_<i>.txt (rows from 0).
#pragma once

#include <Eigen/Dense>
#include <filesystem>
#include <string>
#include <vector>

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

}  // namespace dma::uci
