// The columns of a CSV file of numbers beside a test.
#pragma once

#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace dma::oracle {

// Columns by name, from a path relative to the folder of tests. Throws if the file is missing or a cell is no number.
inline std::map<std::string, std::vector<double>> read_columns(const std::string& path) {
  std::ifstream file(DMA_SOURCE_DIR "/tests/" + path);
  std::string line, cell;
  if (!std::getline(file, line)) throw std::runtime_error("tests/" + path + " is missing or empty");
  std::vector<std::vector<double>*> columns;
  std::map<std::string, std::vector<double>> out;
  for (std::istringstream names(line); std::getline(names, cell, ',');) columns.push_back(&out[cell]);
  while (std::getline(file, line)) {
    std::istringstream cells(line);
    for (std::vector<double>* column : columns) {
      if (!std::getline(cells, cell, ',')) throw std::runtime_error("tests/" + path + ": a row is too short");
      column->push_back(std::stod(cell));
    }
  }
  return out;
}

}  // namespace dma::oracle
