// The columns of a CSV file of numbers beside a test.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace dma::oracle {

// Columns by name, from a path relative to the folder of tests. Throws if the file is missing or a cell is no number.
std::map<std::string, std::vector<double>> read_columns(const std::string& path);

}  // namespace dma::oracle
