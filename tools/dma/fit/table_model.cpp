#include "tools/dma/fit/table_model.h"

#include <fmt/format.h>

#include <cmath>

#include "engine/support/error.h"
#include "factors/standard_registry.h"
#include "models/files/model_file.h"
#include "tools/dma/fit/prediction_table.h"
#include "tools/dma/io/read_file.h"

namespace dma {

const std::vector<std::string>& TableModel::classes() const {
  static const std::vector<std::string> none;
  return none;
}

Prediction TableModel::predict(const Eigen::MatrixXd& inputs) const {
  Prediction prediction = predicted(inputs);
  check_prediction(prediction, targets());
  return prediction;
}

Eigen::MatrixXd TableModel::probabilities(const Eigen::MatrixXd& inputs) const {
  const Eigen::MatrixXd p = probable(inputs);
  constexpr double kRounding = 1e-9;
  for (Eigen::Index n = 0; n < p.rows(); ++n)
    if (!(p.row(n).minCoeff() >= 0) || !(std::abs(p.row(n).sum() - 1) < kRounding))
      fail(
          "the probabilities of row {} overflow: its inputs are too far from the training data; use other units, or "
          "leave the row out",
          n + 1);
  return p;
}

std::string TableModel::check(const TrainingData& data) const {
  if (has_classes())
    (void)probabilities(data.inputs);
  else if (data.inputs.cols() > 0)
    (void)predict(data.inputs);
  return {};
}

bool TableModel::update(const Eigen::MatrixXd&, const Eigen::MatrixXd&, const Eigen::VectorXd&) {
  fail("no rows can be added to a model of classes; fit old and new rows together");
}

Graph TableModel::graph() const { fail("a classifier is not one graph"); }

Prediction TableModel::predicted(const Eigen::MatrixXd&) const {
  fail("the target '{}' is a class, not a number: ask for probabilities", targets()[0]);
}
Eigen::MatrixXd TableModel::probable(const Eigen::MatrixXd&) const {
  fail("the target '{}' is a number, not a class: ask for predictions", targets()[0]);
}

std::unique_ptr<TableModel> table_model_from(std::string_view text, std::string_view source, const Registry& registry) {
  const std::string_view kind = model_kind(text);
  if (kind == model_kinds::kGraph) return std::make_unique<OwnGraph>(graph_model_from(text, source, registry));
  if (kind == model_kinds::kClassifier) return std::make_unique<ClassModel>(classifier_from_text(text, source));
  return std::make_unique<NetworkModel>(bnn_from_text(text, source));
}

std::unique_ptr<TableModel> load_model(const std::filesystem::path& path) {
  return table_model_from(read_file(path, "a model file"), path.string(), standard_registry());
}

}  // namespace dma
