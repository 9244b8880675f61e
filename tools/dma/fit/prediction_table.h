// Predictions of rows, as columns of a table or as JSON.
#pragma once

#include <string>
#include <vector>

#include "engine/support/json.h"
#include "models/predict/table_model.h"

namespace dma {

struct PredictedColumn {
  std::string header;             // in a table
  std::vector<std::string> keys;  // in JSON, one inside the other
  Eigen::VectorXd numbers;
  std::vector<std::string> names = {};  // instead of numbers
};
// Mean, deviations and the central 95 % interval per target; of classes the most probable one and the probability of
// each.
std::vector<PredictedColumn> predicted_columns(const TableModel& model, const Eigen::MatrixXd& inputs);

std::string csv_of(const std::vector<PredictedColumn>& columns);
Json json_of(const std::vector<PredictedColumn>& columns);

}  // namespace dma
