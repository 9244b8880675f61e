// Classifiers scored on rows they have not seen: every row is in one of several folds, and each fold is predicted by a
// classifier that learned from the others.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "models/network/classifier.h"
#include "tools/experiments/commands/score_table.h"

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

struct CrossValidationOptions {
  std::size_t folds = 10, jobs = 1;
  // Predict the next fold instead of each, by what is learned from the rest: to choose settings without looking at the
  // fold.
  bool held_out = false;
  ClassifierOptions classifier = {};
  // If not 0, the columns are a square picture, row by row, over which this many filters of 3 x 3 weights are moved;
  // means of their results, field by field, are the inputs of a last layer. One graph, learned as a whole, takes the
  // place of a dense network and its baselines.
  std::size_t filters = 0;
};

struct CrossValidated {
  std::vector<SplitScores> folds;
  double calibration_error = 0;  // calibration error of all rows together, each predicted once
};

std::vector<ScoreColumn> columns();
CrossValidated cross_validate(const Table& table, const CrossValidationOptions& options);

}  // namespace dma::classify
