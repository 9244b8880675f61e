// What a fit has learned, how good it is, what it looks at: as JSON, and as a page made of nothing but that JSON.
//
// The JSON of `dma fit --json` gets an object "report"; every number on the page stands somewhere in that JSON, and the
// page carries it along.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "models/files/bnn_file.h"
#include "models/files/classifier_file.h"
#include "models/graphs/graph_model.h"
#include "tools/dma/fit/training_data.h"

namespace dma::report {

// What the reader needs to do it again, and what was said about it.
struct Origin {
  std::string command, file;
  std::string warning = {};  // empty: none
};

// A network or a graph of one's own.
struct FittedRegression {
  std::string kind;  // "regression" or "graph"
  const TrainingData& data;
  std::function<Prediction(const Eigen::MatrixXd& inputs)> predict;  // many threads may ask at once
  std::optional<Prediction> left_out;      // the learned rows, each as if it had not been learned
  std::vector<LeftOut> left_out_scores;    // of these
  std::vector<Scores> held_out_scores;
  std::vector<double> noise;               // standard deviation of every target; NaN: it is not Gaussian
  std::vector<std::vector<double>> training;  // log evidence or likelihood a row, after every epoch of every member
  const Graph& graph;
  std::uint64_t seed;
  double products_per_row;  // that a prediction takes
};
FittedRegression fitted(const SavedBnn& saved, const Bnn& model, const TrainingData& data,
                        std::optional<Prediction> left_out);
FittedRegression fitted(const GraphModel& model, const TrainingData& data,
                        std::vector<std::vector<double>> evidence);

struct FittedClassifier {
  const SavedClassifier& saved;
  const Classifier& model;
  const TrainingData& data;
  const std::vector<std::vector<double>>& evidence;  // log evidence a row after every epoch of every part
};

Json report_of(const FittedRegression& fit, const Origin& origin);
Json report_of(const FittedClassifier& fit, const Origin& origin);

// From the whole JSON of a fit, with its "report".
std::string page_of(const Json& whole);

}  // namespace dma::report
