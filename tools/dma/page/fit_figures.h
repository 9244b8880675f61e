// Pictures of a fitted model.
#pragma once

#include <functional>
#include <span>

#include "engine/learn/gaussian/prediction.h"
#include "models/predict/table_model.h"
#include "tools/dma/fit/training_data.h"
#include "tools/dma/pictures/figure.h"

namespace dma {

// One panel per target. With one input column: predictive mean, band of two standard deviations, data, and the range of
// the data as dashed verticals. Otherwise: predicted against observed with error bars, of the held-out rows if there
// are any.
plot::Figure fit_figure(const std::function<Prediction(const Eigen::MatrixXd&)>& predict, const TrainingData& data);

// The probability of the true class of each row, class by class; with one input also the probabilities against it.
struct JudgedClasses {
  const Eigen::MatrixXd& probabilities;   // row x class
  std::span<const Eigen::Index> classes;  // class of each row
  const std::vector<std::string>& names;  // names of the classes
  std::string which;                      // "150 rows, each left out"
};
plot::Figure classes_figure(const TableModel& model, const TrainingData& data, const JudgedClasses& judged);

// The training curves (TableModel::curves()), one line per member.
plot::Figure training_figure(const std::vector<std::vector<double>>& curves);

}  // namespace dma
