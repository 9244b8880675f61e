// Learning a model of a table while somebody watches, for `dma fit` and the Python estimators.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "models/predict/settings.h"
#include "models/predict/table_model.h"
#include "tools/dma/fit/mixed_table.h"
#include "tools/dma/fit/training_data.h"

namespace dma {

// A model, and what only the fit that made it knows.
struct Learned {
  TableModel model;
  bool interrupted = false;
  std::string reason = {};   // for the form of the model
  std::string warning = {};  // of the model's check, see check_learned
  // The learned rows, each as if it had been left out, where the method knows.
  std::optional<Prediction> left_out = {};
  Eigen::MatrixXd left_out_probabilities = {};
};

// Events of a fit, beside its epochs.
struct WatchedFit : TableFit {
  std::function<void(TableModel&)> began = {};  // the model that learns; it stays until the fit has ended
  std::function<void()> on_interruption = {};
};

// The model that these settings ask for, not yet learned: a network, or a classifier where the target is a class.
struct ModelToLearn {
  TableModel model;
  TableFit fit;
  std::string reason = {};  // for the method of a network whose width is given
};
// `adapt` may change the settings of a network.
ModelToLearn model_to_learn(const FitSettings& settings, const TrainingData& data,
                            const std::function<void(NetworkSettings&)>& adapt = {});

// Rows that lie too far are dropped from the data. The model and its options are checked; an Error if whoever reads its
// file would refuse it.
Learned learn(TableModel model, TrainingData& data, WatchedFit fit);

// An Error if the model cannot predict the rows that it learned, unless more epochs may mend it; otherwise a warning.
void check_learned(Learned& learned, const TrainingData& data);

TableRows held_out_of(const TrainingData& data, TableModel& model);
// Columns of a table that become the features of a model.
ModelColumns columns_of(const TableModel& model);
TableModel load_model(const std::filesystem::path& path);

// A fit that was stopped, to go on from. A resumed fit ends with the same bytes as one that was never stopped. The data
// and all options but epochs, tolerance, patience and least gain must be those of the checkpoint; the Error names the
// first that is not.
TableModel resume_from(const std::filesystem::path& path, const TrainingData& data, const TableModel& model,
                       const LearnOptions& options);

}  // namespace dma
