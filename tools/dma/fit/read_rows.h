// Rows of a table as numbers: to learn from, or for a model that was fitted. Columns are chosen by name, cells are
// coded, and rows without a target or of weight 0 are left out.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "models/predict/table_model.h"
#include "models/table/standardiser.h"
#include "tools/dma/fit/mixed_table.h"
#include "tools/dma/fit/training_data.h"

namespace dma {

// The way to read the cells of a single target.
enum class TargetCells { as_they_look, names, numbers };

struct TableRequest {
  std::filesystem::path path;
  std::vector<std::string> targets,
      features = {};         // one by one, or lists with commas; no features: all but the targets
  std::string weights = {};  // column with the weights of rows; empty: they have none
  double holdout = 0;        // fraction of the rows, chosen by the seed, that is kept aside
  std::uint64_t seed = 1;
  TargetCells target_cells = TargetCells::as_they_look;  // text: classes
  bool strict = false;                                   // cells that are neither numbers nor classes are an Error
  bool as_it_is = false;  // strict; exactly these features are read, and none is left out or coded
  std::function<void(double)> fraction_read = {};  // is told how much of the file was read
};
TrainingData read_training_data(const TableRequest& request);
TrainingData read_training_data(const TableRequest& request, const TableSource& source);
// The columns that a graph observes.
TrainingData read_observed(TableRequest request, const TableSource& source, const GraphModel& model);

// Inputs for a model, and its targets and the weights of the rows if they are named; `fitted` is its name in errors.
struct ModelColumns {
  const std::vector<std::string>& features;
  const ColumnCoding& coding;
  const Standardiser& inputs;  // their means stand for missing cells
  bool standardises;
};
TrainingData read_new_rows(const TableSource& source, const std::string& fitted, const ModelColumns& model,
                           const std::vector<std::string>& targets = {}, const std::string& weights = {});

// The columns of a table that are read: targets, then features.
struct TableColumns {
  std::vector<std::size_t> places;
  std::size_t targets = 0;
  bool has_weights = false;               // the last of the targets is the weight of the rows
  std::vector<std::size_t> unnamed = {};  // columns without a name, where features are not named either
  std::size_t own_targets() const { return targets - (has_weights ? 1 : 0); }
};
inline constexpr const char* kIndexName = "Unnamed: 0";  // that pandas gives to an index it reads back
TableColumns table_columns(const TableSource& source, const TableRequest& request);

}  // namespace dma
