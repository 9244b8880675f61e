// The report of a classifier.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "tools/dma/page/parts.h"

namespace dma::report {

namespace {

using Places = std::vector<Eigen::Index>;

struct JudgedClasses {
  std::string by;
  Eigen::MatrixXd probabilities;
  ClassLabels labels;
};

JudgedClasses judged_classes(const FittedClassifier& fit) {
  constexpr std::size_t kEnough = 30;
  if (fit.data.held_out_rows() >= kEnough)
    return {"held_out", fit.model.predict(fit.data.held_out_inputs), fit.data.held_out_labels()};
  return {"left_out", fit.model.left_out(), fit.data.labels()};
}

Json class_scores_json(const ClassScores& scores, std::size_t rows) {
  Json json = to_json(scores);
  json["rows"] = rows;
  return json;
}

Json all_class_scores(const FittedClassifier& fit) {
  const ClassifierTraining& t = fit.saved.training;
  Json json;
  if (t.held_out) json["held_out"] = class_scores_json(*t.held_out, t.held_out_rows);
  json["left_out"] = class_scores_json(t.report.left_out, t.rows);
  json["frequencies"] = class_scores_json(t.report.frequencies, t.rows);
  return json;
}

Json confusion_json(const Eigen::MatrixX<Eigen::Index>& counts) {
  Json json = Json::array();
  for (Eigen::Index k = 0; k < counts.rows(); ++k) {
    Json row = Json::array();
    for (Eigen::Index l = 0; l < counts.cols(); ++l) row.push_back(counts(k, l));
    json.push_back(std::move(row));
  }
  return json;
}

double class_products_per_row(const FittedClassifier& fit) {
  double products = 0;
  if (fit.saved.memory.neighbours) products += static_cast<double>(fit.saved.memory.neighbours->memory().rows.size());
  for (const Classifier::Part& part : fit.saved.memory.parts)
    products +=
        std::pow(static_cast<double>(part.mean.size()), 2) * static_cast<double>(fit.saved.memory.classes.size());
  return products;
}

Matters what_matters_for_classes(const FittedClassifier& fit) {
  const TrainingData& data = fit.data;
  const Effort effort = effort_for(class_products_per_row(fit), data.inputs.rows(), data.inputs.cols(), 1);
  const ClassLabels labels = data.labels();
  const auto loss_of = [&](const Places& rows) -> Loss {
    std::vector<Eigen::Index> classes;
    for (const Eigen::Index row : rows) classes.push_back(labels.of_rows[static_cast<std::size_t>(row)]);
    return [&fit, classes](const Eigen::MatrixXd& inputs) {
      return Eigen::VectorXd::Constant(1, class_scores_of(fit.model.predict(inputs), classes).log_loss).eval();
    };
  };
  return what_matters(data, effort, fit.saved.options.seed, loss_of, [&](const Eigen::MatrixXd& inputs) {
    return Response{fit.model.predict(inputs), {}};
  });
}

// The most frequent classes have a curve.
Places classes_with_curve(const std::vector<std::size_t>& counts) {
  constexpr std::size_t kMost = 6;
  Places order(counts.size());
  for (std::size_t k = 0; k < order.size(); ++k) order[k] = static_cast<Eigen::Index>(k);
  std::ranges::stable_sort(order, [&](Eigen::Index a, Eigen::Index b) {
    return counts[static_cast<std::size_t>(a)] > counts[static_cast<std::size_t>(b)];
  });
  order.resize(std::min(order.size(), kMost));
  std::ranges::sort(order);
  return order;
}

Json evidence_json(const std::vector<std::vector<double>>& evidence) {
  Json all = Json::array();
  for (const std::vector<double>& part : evidence) {
    Json json = {{"epoch", Json::array()}, {"value", Json::array()}};
    for (std::size_t i = 0; i < part.size(); ++i) {
      json["epoch"].push_back(i + 1);
      json["value"].push_back(short_number(part[i]));
    }
    all.push_back(std::move(json));
  }
  return all;
}

}  // namespace

Json report_of(const FittedClassifier& fit, const Origin& origin) {
  Json json = {{"kind", "classifier"}};
  json.update(about(origin, fit.data));
  const JudgedClasses judged = judged_classes(fit);
  const Matters matters = what_matters_for_classes(fit);
  json["judged_by"] = judged.by;
  json["matters"] = matters.how;
  json["matters"]["loss"] = "log-loss";
  json["classes"] = fit.saved.memory.classes;
  json["rows_of_classes"] = fit.saved.training.counts;
  json["scores"] = all_class_scores(fit);
  json["calibration"] = json_of(reliability_curve(judged.probabilities, judged.labels.of_rows));
  json["confusion"] = confusion_json(confusion(judged.probabilities, judged.labels.of_rows));
  json["importance"] = matters.importance[0];
  json["dependence"] = Json::array();
  for (const Eigen::Index k : classes_with_curve(fit.saved.training.counts))
    json["dependence"].push_back({{"class", fit.saved.memory.classes[static_cast<std::size_t>(k)]},
                                  {"inputs", matters.dependence[static_cast<std::size_t>(k)]}});
  json["training"] = evidence_json(fit.evidence);
  return json;
}

}  // namespace dma::report
