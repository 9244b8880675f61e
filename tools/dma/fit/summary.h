// The summary of a fitted model: what it is, how it was learned and how good it is; as text and as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/support/json.h"
#include "models/predict/table_model.h"
#include "models/table/standardiser.h"

namespace dma {

std::string summary_text(const TableModel& model);
Json summary_json(const TableModel& model);
// One plain sentence per target, from rows predicted as if left out.
std::vector<std::string> honest_sentences(const TableModel& model);

// A layer of a network: its matrix row by row, then its biases if it has any.
struct NetworkLayer {
  std::size_t member = 0, units = 0, inputs = 0;
  bool bias = false;
  std::vector<Gaussian> weights;
  std::vector<double> prior_variance;
};
std::vector<NetworkLayer> layers_of(const TableMethod& network);

// Means and deviations of the weights of a layer, after and before learning.
struct LayerOfWeights {
  std::string name;
  std::size_t member = 0, weights = 0;
  double mean = 0, sd = 0, prior_sd = 0;  // root mean squares
  double clear = 0;                       // fraction of weights more than two of their standard deviations from 0
};
std::vector<LayerOfWeights> layers_of(const TableModel& model);
std::string layers_text(const std::vector<LayerOfWeights>& layers);
Json layers_json(const std::vector<LayerOfWeights>& layers);

// "RMSE 0.1, log-likelihood ...", "accuracy 96 %, ..."
std::string scores_text(const Scores& scores);
std::string scores_text(const ClassScores& scores);
// Log density of standardised targets minus that of the targets.
double mean_log_scale(const Standardiser& targets);

}  // namespace dma
