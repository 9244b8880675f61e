#include "tools/experiments/commands/uci.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <map>
#include <sstream>

#include "engine/support/text.h"
#include "engine/support/whole_number.h"
#include "models/network/bnn.h"
#include "models/table/scores.h"
#include "tools/experiments/paper/thread_seconds.h"

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
    std::ranges::replace(line, ',', ' ');
    std::vector<double> values;
    std::istringstream text(line);
    for (std::string word; text >> word;) {
      const auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), values.emplace_back());
      if (code == std::errc() && end == word.data() + word.size()) continue;
      std::string rest;
      std::getline(text, rest);
      fail("{}, line {}: '{}' is not a number", file.string(), number, (word + rest).substr(0, 20));
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

std::vector<ScoreColumn> columns() {
  using Shows = ScoreColumn::Shows;
  return {{"RMSE", 3, Shows::mean_and_error},
          {"log-likelihood", 3, Shows::mean_and_error},
          {"95 % coverage", 3},
          {"worst row", 1, Shows::least},
          {"epochs", 0},
          {"CPU s per split", 2}};
}

SplitScores run_split(const DataFolder& data, std::size_t split, std::uint64_t seed, const FitChanges& changes) {
  const Eigen::MatrixXd inputs = data.inputs(data.train[split], Eigen::all),
                        targets = data.targets(data.train[split], Eigen::all);
  const Eigen::MatrixXd test_inputs = data.inputs(data.test[split], Eigen::all),
                        test_targets = data.targets(data.test[split], Eigen::all);
  RegressionSettings settings =
      regression_settings(static_cast<std::size_t>(inputs.cols()), static_cast<std::size_t>(targets.cols()),
                          static_cast<std::size_t>(inputs.rows()), changes.method);
  settings.network.seed = seed + split;
  settings.network.neighbours &= !changes.no_neighbours;
  settings.network.log_inputs &= !changes.no_log_inputs;
  const double start = thread_seconds();
  Bnn net(settings.network);
  const FitReport report = net.fit(inputs, targets, settings.fit);
  double epochs = 0;
  for (const LearnReport& member : report.members)
    epochs += static_cast<double>(member.epochs.size()) / static_cast<double>(report.members.size());
  const Prediction predicted = net.predict(test_inputs);
  const Scores scores = scores_of(predicted, test_targets)[0];
  const double worst_row = predicted.log_density(test_targets).minCoeff();
  return {scores.rmse, scores.log_likelihood, scores.coverage_95, worst_row, epochs, thread_seconds() - start};
}

std::vector<std::string> published_systems() { return {"PBP", "TAGI", "MC dropout", "deep ensembles"}; }

// PBP: Hernandez-Lobato and Adams 2015. TAGI: Goulet, Nguyen and Amiri 2021. MC dropout, tuned: Mukhoti, Stenetorp and
// Gal 2018. Deep ensembles: Lakshminarayanan, Pritzel and Blundell 2017.
std::vector<std::string> published(const std::string& set) {
  static const std::map<std::string, std::vector<std::string>> kTable = {
      {"boston", {"3.01 / -2.57", "3.15 / -2.58", "2.9 / -2.40", "3.28 / -2.41"}},
      {"concrete", {"5.67 / -3.16", "5.87 / -3.20", "4.82 / -2.93", "6.03 / -3.06"}},
      {"energy", {"1.8 / -2.04", "1.32 / -1.81", "0.54 / -1.21", "2.09 / -1.38"}},
      {"wine", {"0.64 / -0.97", "0.639 / -0.98", "0.62 / -0.93", "0.64 / -0.94"}},
      {"yacht", {"1.02 / -1.63", "1.04 / -1.60", "0.67 / -1.25", "1.58 / -1.18"}}};
  const auto found = kTable.find(set);
  return found == kTable.end() ? std::vector<std::string>(4, "-") : found->second;
}

}  // namespace dma::uci
