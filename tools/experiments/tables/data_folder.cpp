#include "tools/experiments/tables/data_folder.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>

#include "engine/support/error.h"
#include "engine/support/text.h"
#include "engine/support/whole_number.h"

namespace dma::uci {

namespace fs = std::filesystem;

namespace {

// All numbers of a file, line by line; empty lines are passed over.
std::vector<std::vector<double>> read_numbers(const fs::path& file) {
  std::ifstream in(file);
  if (!in) fail("{}: the file cannot be read", file.string());
  std::vector<std::vector<double>> lines;
  std::string line;
  for (std::size_t number = 1; std::getline(in, line); ++number) {
    std::vector<double> values;
    const char *at = line.data(), *const end = at + line.size();
    while (true) {
      while (at < end && (*at == ' ' || *at == '\t' || *at == '\r' || *at == ',')) ++at;
      if (at == end) break;
      double value = 0;
      const auto [next, error] = std::from_chars(*at == '+' ? at + 1 : at, end, value);
      if (error != std::errc{})
        fail("{}, line {}: '{}' is not a number", file.string(), number, std::string(at, std::min(end, at + 20)));
      values.push_back(value);
      at = next;
    }
    if (!values.empty()) lines.push_back(std::move(values));
  }
  return lines;
}

std::vector<Eigen::Index> read_indices(const fs::path& file, Eigen::Index limit) {
  std::vector<Eigen::Index> indices;
  for (const auto& line : read_numbers(file))
    for (const double value : line) {
      const auto index = whole_number<Eigen::Index>(value, 0, limit);
      if (static_cast<double>(index) != value || index == limit)
        fail("{}: index {} is not a whole number from 0 to {}", file.string(), value, limit - 1);
      indices.push_back(index);
    }
  if (indices.empty()) fail("{}: the file holds no index", file.string());
  return indices;
}

bool is_data_folder(const fs::path& folder) { return fs::is_regular_file(folder / "data.txt"); }

}  // namespace

DataFolder read_data_folder(const fs::path& folder, std::size_t splits) {
  DataFolder data;
  data.name = printable(fs::weakly_canonical(folder).filename().string());
  const auto lines = read_numbers(folder / "data.txt");
  if (lines.empty()) fail("{}: the file holds no numbers", (folder / "data.txt").string());
  Eigen::MatrixXd table(lines.size(), lines[0].size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].size() != lines[0].size())
      fail("{}: row {} has {} numbers but the first has {}", (folder / "data.txt").string(), i, lines[i].size(),
           lines[0].size());
    table.row(static_cast<Eigen::Index>(i)) = Eigen::Map<const Eigen::RowVectorXd>(lines[i].data(), table.cols());
  }
  data.inputs = table(Eigen::all, read_indices(folder / "index_features.txt", table.cols()));
  data.targets = table(Eigen::all, read_indices(folder / "index_target.txt", table.cols()));
  for (std::size_t i = 0; i < splits; ++i) {
    const fs::path train = folder / fmt::format("index_train_{}.txt", i),
                   test = folder / fmt::format("index_test_{}.txt", i);
    if (i > 0 && !fs::exists(train)) break;
    data.train.push_back(read_indices(train, table.rows()));
    data.test.push_back(read_indices(test, table.rows()));
  }
  return data;
}

std::vector<fs::path> data_folders(const fs::path& folder) {
  if (!fs::is_directory(folder)) fail("'{}' is not a folder", folder.string());
  if (is_data_folder(folder)) return {folder};
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(folder))
    if (is_data_folder(entry.path())) found.push_back(entry.path());
  if (found.empty())
    fail("'{}' holds no data.txt, and neither does a folder in it; a folder of the UCI layout is expected",
         folder.string());
  std::ranges::sort(found);
  return found;
}

void hold_back(DataFolder& data) {
  for (std::size_t i = 0; i < data.train.size(); ++i) {
    std::vector<Eigen::Index> train, test;
    for (std::size_t n = 0; n < data.train[i].size(); ++n)
      (n % 10 == i % 10 ? test : train).push_back(data.train[i][n]);
    data.train[i] = std::move(train);
    data.test[i] = std::move(test);
  }
}

}  // namespace dma::uci
