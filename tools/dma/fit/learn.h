// Learns a model of a table, for `dma fit` and the Python estimators.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "models/predict/settings.h"
#include "models/predict/table_model.h"
#include "tools/dma/fit/read_rows.h"

namespace dma {

// A fitted model with the results of its fit.
struct Learned {
  TableModel model;
  bool interrupted = false;
  std::string reason = {};   // for the form of the model
  std::string warning = {};  // warning of the model's check, see check_learned
  // Predictions of the learned rows, each as if it had been left out, if the method has them.
  std::optional<Prediction> left_out = {};
  Eigen::MatrixXd left_out_probabilities = {};
};

// Events of a fit, beside its epochs.
struct WatchedFit : TableFit {
  std::function<void(TableModel&)> began = {};  // the model that learns; it stays until the fit has ended
  std::function<void()> on_interruption = {};
};

// A model that is not yet learned.
struct ModelToLearn {
  TableModel model;
  TableFit fit;
  std::string reason = {};  // for the method of a network whose width is given
};
// A network, or a classifier if the target is a class. `adapt` may change the settings of a network.
ModelToLearn model_to_learn(const FitSettings& settings, const TrainingData& data,
                            const std::function<void(NetworkSettings&)>& adapt = {});

// Drops rows that lie too far from the data. An Error if the learned model could not be read back from its file.
Learned learn(TableModel model, TrainingData& data, WatchedFit fit);

// An Error if the model cannot predict the rows that it learned, unless more epochs may mend it; otherwise a warning.
void check_learned(Learned& learned, const TrainingData& data);

TableRows held_out_of(const TrainingData& data, TableModel& model);
// Columns of a table that become the features of a model.
ModelColumns columns_of(const TableModel& model);
TableModel load_model(const std::filesystem::path& path);

// Reads a checkpoint. A resumed fit ends with the same bytes as one that was never stopped. The data and all options
// but epochs, tolerance, patience and least gain must be those of the checkpoint; the Error names the first that is
// not.
TableModel resume_from(const std::filesystem::path& path, const TrainingData& data, const TableModel& model,
                       const LearnOptions& options);

}  // namespace dma
