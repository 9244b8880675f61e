// Predictions as a table, and whether they are fit to be one.
#pragma once

#include <string>
#include <vector>

#include "engine/learn/joint/prediction.h"
#include "models/files/readable_json.h"

namespace dma {

// An Error that names the first row and target whose prediction is not a finite number with a finite spread above 0;
// rows are counted behind those `before`.
void check_prediction(const Prediction& prediction, const std::vector<std::string>& targets, Eigen::Index before = 0);

// One row per row of the input: mean, deviations and the central 95 % interval of every target.
std::string prediction_csv(const Prediction& prediction, const std::vector<std::string>& targets);
Json prediction_json(const Prediction& prediction, const std::vector<std::string>& targets);

// Probabilities of classes, rows x classes, and the most probable class.
std::string probabilities_csv(const Eigen::MatrixXd& probabilities, const std::string& target,
                              const std::vector<std::string>& classes);
Json probabilities_json(const Eigen::MatrixXd& probabilities, const std::string& target,
                        const std::vector<std::string>& classes);

}  // namespace dma
