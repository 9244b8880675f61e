// Parts of a report's JSON that regressions and classifiers share.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>

#include "engine/support/json.h"
#include "tools/dma/page/calibration.h"
#include "tools/dma/page/dependence.h"
#include "tools/dma/page/effort.h"
#include "tools/dma/page/importance.h"
#include "tools/dma/page/report.h"

namespace dma::report {

// Six digits: what a picture shows, in a fraction of the bytes.
Json short_number(double value);
Json short_numbers(const Eigen::VectorXd& values);

Json json_of(const std::vector<StatedFraction>& curve);

// The training curve per member; of many epochs some.
Json training_json(const std::vector<std::vector<double>>& curves);

// Version, command, file, rows, columns.
Json about(const Origin& origin, const std::string& warning, const TrainingData& data);

struct Matters {
  Json how = {};                      // rows, shuffles, columns
  std::vector<Json> importance = {};  // per output: the loss before, and the table's columns, best first
  std::vector<Json> dependence = {};  // per output: curves of its most important inputs
};

// On the learned rows, or a sample of them. `loss_of` makes the loss of rows with these places. Outputs of the loss are
// those of the model, or it has one and the model many, which then share the choice of curves.
Matters what_matters(const TrainingData& data, const Effort& effort, std::uint64_t seed,
                     const std::function<Loss(const std::vector<Eigen::Index>& rows)>& loss_of, const Model& model);

}  // namespace dma::report
