// Text and columns of numbers of files beside the tests, and graph files that several tests use.
#pragma once

#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace dma::oracle {

// `path` is relative to the folder of tests.
inline std::string text_of_file(const std::string& path) {
  std::ifstream stream(DMA_SOURCE_DIR "/tests/" + path, std::ios::binary);
  if (!stream) throw std::runtime_error("tests/" + path + " is missing");
  return {std::istreambuf_iterator(stream), {}};
}

// Columns by name, from a path relative to the folder of tests. Throws if the file is missing or a cell is no number.
inline std::map<std::string, std::vector<double>> read_columns(const std::string& path) {
  std::istringstream file(text_of_file(path));
  std::string line, cell;
  if (!std::getline(file, line)) throw std::runtime_error("tests/" + path + " is empty");
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

inline std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size()) text.replace(at, from.size(), to);
  return text;
}

// graphs/NAME: line.json (y = a x + b), groups.json (a slope, and an intercept per group), counts.json (a log rate),
// scores.json (a class by softmax), network.json (the network of `dma fit`, with $ in place of what is chosen).
inline std::string graph_file(const std::string& name) { return text_of_file("oracles/graphs/" + name); }

// The network of `dma fit`, with one hidden layer: as many units as are chosen of these, and as much smoothing.
inline std::string network_file(std::size_t inputs, const std::string& units, const std::string& smoothings) {
  const std::string text = replaced(graph_file("network.json"), "$inputs", std::to_string(inputs));
  return replaced(replaced(text, "$units", units), "$smoothings", smoothings);
}

}  // namespace dma::oracle
