// What a fitted model is, how it was learned and how good it is, for people and for programs: lines that all kinds of
// models share, and what each fills in (network_summary.cpp, class_summary.cpp, graph_summary.cpp).
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "models/files/bnn_file.h"
#include "models/files/classifier_file.h"
#include "models/graphs/graph_model.h"

namespace dma {

std::string summary_text(const SavedBnn& saved);
std::string summary_text(const SavedClassifier& saved);
std::string summary_text(const GraphModel& model);
Json summary_json(const SavedBnn& saved);
Json summary_json(const SavedClassifier& saved);
Json summary_json(const GraphModel& model);

// One sentence per target that a person can act on, from rows predicted as if left out.
std::vector<std::string> honest_sentences(const SavedBnn& saved);
std::vector<std::string> honest_sentences(const SavedClassifier& saved);

double root_mean_square(const Eigen::ArrayXd& values);  // where squares overflow, too

// Weights of one layer: how far the data have moved and narrowed the beliefs.
struct LayerOfWeights {
  std::string name;
  Json place;  // what tells it from the others
  std::size_t weights = 0;
  double mean = 0, sd = 0, prior_sd = 0;  // root mean squares
  double clear = 0;                       // fraction of weights more than two of their standard deviations from 0

  LayerOfWeights(std::string its_name, Json its_place, const Eigen::ArrayXd& means, const Eigen::ArrayXd& variances,
                 const Eigen::ArrayXd& prior_variances);
};
std::vector<LayerOfWeights> layers_of(const Bnn& net);
std::vector<LayerOfWeights> layers_of(const SavedClassifier& saved);
std::string layers_text(const std::vector<LayerOfWeights>& layers);
Json layers_json(const std::vector<LayerOfWeights>& layers);

// "RMSE 0.1, log-likelihood ...", "accuracy 96 %, ..."
std::string scores_text(const Scores& scores);
std::string scores_text(const ClassScores& scores);
// "scale     logarithmic for a, b\n", or nothing.
std::string scale_text(const Standardiser& inputs, const std::vector<std::string>& features);
// Coding of columns and inputs with a logarithmic scale, where there are any.
void add_columns(Json& json, const ColumnCoding& coding, const Standardiser& inputs,
                 const std::vector<std::string>& features);

// By how much the log density of standardised targets is above that of the targets.
double mean_log_scale(const Standardiser& targets);
// Train log-likelihood, or evidence, per row after every epoch of every member, in the units of the data.
std::vector<std::vector<double>> training_curves(const SavedBnn& saved);

}  // namespace dma
