// Pictures of a fitted network.
#pragma once

#include <span>

#include "models/classifier/classifier.h"
#include "models/files/bnn_file.h"
#include "tools/dma/fit/training_data.h"
#include "tools/dma/pictures/gnuplot.h"

namespace dma {

// One panel per target. With one input column: predictive mean, band of two standard deviations, data, and the range of
// the data as dashed verticals. Otherwise: predicted against observed with error bars, of the held-out rows if there
// are any.
plot::Figure fit_figure(Bnn& net, const TrainingData& data);

// What a classifier gave the true class of each row, class by class; with one input also the probabilities against it.
struct JudgedClasses {
  const Eigen::MatrixXd& probabilities;   // row x class
  std::span<const Eigen::Index> classes;  // of the rows
  const std::vector<std::string>& names;  // of the classes
  std::string which;                      // "150 rows, each left out"
};
plot::Figure classes_figure(const Classifier& model, const TrainingData& data, const JudgedClasses& judged);

// Train log-likelihood against epochs, one line per member.
plot::Figure training_figure(const SavedBnn& saved);

}  // namespace dma
