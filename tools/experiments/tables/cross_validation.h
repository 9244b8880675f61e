// Classifiers scored on rows they have not seen: every row is in one of several folds, and each fold is predicted by a
// classifier that learned from the others.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "models/network/classifier.h"

namespace dma::classify {

struct Table {
  std::string name;
  Eigen::MatrixXd inputs;
  ClassLabels labels;
};

// A CSV file whose column `target` (empty: the last) names the classes; all others are numbers.
Table read_table(const std::filesystem::path& path, const std::string& target);
// The file itself, or the .csv files of a folder, by name.
std::vector<std::filesystem::path> tables_in(const std::filesystem::path& path);

// The fold of every row: its number within its class, modulo the number of folds. No chance in it, and every class in
// every fold.
std::vector<std::size_t> stratified_folds(const ClassLabels& labels, std::size_t folds);

struct FoldResult {
  std::size_t fold = 0;
  ClassScores scores;
  TableReport report;
  double worst_row = 0;  // log probability of the class that is least expected
  double seconds = 0;    // of the processor, fit and prediction
};

struct TableResult {
  std::string name;
  Eigen::Index rows = 0, inputs = 0;
  std::size_t classes = 0;
  std::vector<FoldResult> folds;
  ClassScores scores;  // of all rows together, each predicted once
};

struct CrossValidationOptions {
  std::size_t folds = 10, jobs = 1;
  // Instead of each fold the next one is predicted, by what is learned from the rest: to choose settings without
  // looking at the fold.
  bool held_out = false;
  ClassifierOptions classifier = {};
  // Not 0: the columns are a square picture, row by row, which so many filters of 3 x 3 weights are moved over; means
  // of their results, field by field, are the inputs of a last layer. One graph, learned as a whole, in place of a
  // dense network and its baselines.
  std::size_t filters = 0;
  std::function<void(const FoldResult&)> on_fold = {};  // called from one thread at a time
};

TableResult cross_validate(const Table& table, const CrossValidationOptions& options);

}  // namespace dma::classify
