// Predictions as a table, and whether they are fit to be one.
#pragma once

#include <string>
#include <vector>

#include "engine/learn/gaussian/prediction.h"
#include "engine/support/json.h"

namespace dma {

// One row per row of the input: mean, deviations and the central 95 % interval of every target.
std::string prediction_csv(const Prediction& prediction, const std::vector<std::string>& targets);
Json prediction_json(const Prediction& prediction, const std::vector<std::string>& targets);

// Probabilities of classes, rows x classes, and the most probable class.
std::string probabilities_csv(const Eigen::MatrixXd& probabilities, const std::string& target,
                              const std::vector<std::string>& classes);
Json probabilities_json(const Eigen::MatrixXd& probabilities, const std::string& target,
                        const std::vector<std::string>& classes);

}  // namespace dma
