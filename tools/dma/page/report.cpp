// The report of a fit: one part for every target, of numbers or of classes.
#include "tools/dma/page/report.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/inspect/inspect.h"
#include "engine/learn/gaussian/program/output_likelihood.h"
#include "engine/support/fields.h"
#include "factors/standard_registry.h"
#include "tools/dma/page/parts.h"

namespace dma::report {

namespace {

using Places = std::vector<Eigen::Index>;

constexpr Eigen::Index kMostPoints = 600, kPointsOfAll = 1800, kLeastPoints = 30;
constexpr std::size_t kEnough = 30;  // rows kept aside, to judge by them

struct Fit {
  const TableModel& model;
  const Learned& learned;
  const TrainingData& data;
  Eigen::Index choices = 0;  // the last inputs, which choose elements of a graph
  bool has_curves = true;    // along the inputs that matter most
};

Eigen::MatrixXd some_rows(const Eigen::MatrixXd& all, const Places& rows) {
  return all.size() == 0 ? all : all(rows, Eigen::all).eval();
}

Prediction some_rows(const Prediction& all, const Places& rows) {
  return {some_rows(all.mean, rows), some_rows(all.sd, rows), some_rows(all.epistemic_sd, rows),
          some_rows(all.noise_sd, rows), rows_of(all.components, rows)};
}

// Rows by which a model of numbers is judged, and what it said of them.
struct Judged {
  std::string by;
  Prediction prediction;
  const Eigen::MatrixXd* targets;
};

// Rows kept aside, unless they are too few for a picture while there are others that can be taken for unseen.
Judged judged_rows(const Fit& fit) {
  const std::size_t held_out = fit.data.held_out_rows();
  if (held_out >= kEnough || (held_out > 0 && !fit.learned.left_out))
    return {"held_out", fit.model.predict(fit.data.held_out_inputs), &fit.data.held_out_outputs};
  if (fit.learned.left_out) return {"left_out", *fit.learned.left_out, &fit.data.outputs};
  return {"learned", fit.model.predict(fit.data.inputs), &fit.data.outputs};
}

template <class AnyScores>
Json scores_json(const AnyScores& scores, std::size_t rows) {
  Json json = written(scores);
  json["rows"] = rows;
  return json;
}

Json number_scores(const Fit& fit, const Judged& judged, const std::vector<Scores>& of_judged, std::size_t j) {
  Json json;
  const auto add = [&](const char* by, const Scores& s, const Eigen::MatrixXd& outputs, std::size_t rows) {
    json[by] = scores_json(s, rows);
    json[by]["explained"] = json_number(fraction_explained(s.rmse, outputs.col(static_cast<Eigen::Index>(j))));
  };
  if (const auto& all = fit.model.training().held_out; j < all.size())
    add("held_out", all[j], fit.data.held_out_outputs, fit.data.held_out_rows());
  if (const auto& all = fit.model.training().report.left_out; j < all.size()) {
    add("left_out", all[j].scores, fit.data.outputs, fit.data.rows());
    json["left_out"]["explained"] = json_number(all[j].explained);
  }
  if (judged.by == "learned") add("learned", of_judged[j], fit.data.outputs, fit.data.rows());
  return json;
}

Json points_json(const Judged& judged, const Places& shown, const Prediction& p, const Eigen::MatrixXd& low,
                 const Eigen::MatrixXd& high, Eigen::Index target) {
  const Eigen::VectorXd observed = judged.targets->col(target)(shown);
  return {{"shown", shown.size()},
          {"rows", judged.targets->rows()},
          {"observed", short_numbers(observed)},
          {"predicted", short_numbers(p.mean.col(target))},
          {"low", short_numbers(low.col(target))},
          {"high", short_numbers(high.col(target))}};
}

// Importance and partial dependence of the inputs.
Matters matters_of(const Fit& fit, const std::function<Loss(const Places& rows)>& loss_of, const Model& response) {
  const TrainingData& data = fit.data;
  const Eigen::Index outputs = data.has_classes() ? 1 : data.outputs.cols();
  Effort effort = effort_for(fit.model.method().products_per_row(), data.inputs.rows(), data.inputs.cols(), outputs);
  if (!fit.has_curves) effort.dependences = 0;
  return what_matters(data, effort, fit.model.seed(), loss_of, response);
}

// A curve along an input that chooses elements stops at elements only.
Prediction predicted_anywhere(const Fit& fit, Eigen::MatrixXd inputs) {
  inputs.rightCols(fit.choices) = inputs.rightCols(fit.choices).array().round().matrix().eval();
  return fit.model.predict(inputs);
}

Matters number_matters(const Fit& fit) {
  const auto loss_of = [&](const Places& rows) -> Loss {
    return [&fit, targets = fit.data.outputs(rows, Eigen::all).eval()](const Eigen::MatrixXd& inputs) {
      const Eigen::MatrixXd miss = predicted_anywhere(fit, inputs).mean - targets;
      Eigen::VectorXd rmse(miss.cols());
      for (Eigen::Index j = 0; j < miss.cols(); ++j)
        rmse(j) = miss.col(j).stableNorm() / std::sqrt(static_cast<double>(miss.rows()));
      return rmse;
    };
  };
  return matters_of(fit, loss_of, [&](const Eigen::MatrixXd& inputs) {
    Prediction p = predicted_anywhere(fit, inputs);
    return Response{std::move(p.mean), std::move(p.epistemic_sd)};
  });
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

Matters class_matters(const Fit& fit) {
  const ClassLabels labels = fit.data.labels();
  const auto loss_of = [&](const Places& rows) -> Loss {
    Places classes;
    for (const Eigen::Index row : rows) classes.push_back(labels.of_rows[static_cast<std::size_t>(row)]);
    return [&fit, classes](const Eigen::MatrixXd& inputs) {
      return Eigen::VectorXd::Constant(1, class_scores_of(fit.model.probabilities(inputs), classes).log_loss).eval();
    };
  };
  return matters_of(fit, loss_of, [&](const Eigen::MatrixXd& inputs) {
    return Response{fit.model.probabilities(inputs), {}};
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

void add_numbers(const Fit& fit, Json& json) {
  const Judged judged = judged_rows(fit);
  const std::vector<Scores> of_judged = scores_of(judged.prediction, *judged.targets);
  const Eigen::MatrixXd below = mass_below(judged.prediction, *judged.targets);
  const auto targets = static_cast<Eigen::Index>(fit.data.targets.size());
  const Places shown = sample_rows(judged.targets->rows(),
                                   std::clamp(kPointsOfAll / targets, kLeastPoints, kMostPoints), fit.model.seed());
  const Prediction of_shown = some_rows(judged.prediction, shown);
  const Eigen::MatrixXd low = of_shown.quantile(0.025), high = of_shown.quantile(0.975);
  const Matters matters = number_matters(fit);
  const std::vector<double> noise = fit.model.method().noise();
  json["judged_by"] = judged.by;
  json["matters"] = matters.how;
  json["matters"]["loss"] = "RMSE";
  for (Eigen::Index j = 0; j < targets; ++j) {
    const auto place = static_cast<std::size_t>(j);
    json["targets"].push_back({{"name", fit.data.targets[place]},
                               {"noise", std::isnan(noise[place]) ? Json() : json_number(noise[place])},
                               {"scores", number_scores(fit, judged, of_judged, place)},
                               {"points", points_json(judged, shown, of_shown, low, high, j)},
                               {"coverage", json_of(coverage_curve(below.col(j)))},
                               {"calibration", json_of(quantile_curve(below.col(j)))},
                               {"importance", matters.importance[place]},
                               {"dependence", matters.dependence[place]}});
  }
}

void add_classes(const Fit& fit, Json& json) {
  const bool held_out = fit.data.held_out_rows() >= kEnough;
  const Eigen::MatrixXd probabilities =
      held_out ? fit.model.probabilities(fit.data.held_out_inputs) : fit.learned.left_out_probabilities;
  const ClassLabels labels = held_out ? fit.data.held_out_labels() : fit.data.labels();
  const TableReport& report = fit.model.training().report;
  const std::vector<std::size_t> counts = fit.data.labels().counts();
  const Matters matters = class_matters(fit);
  json["judged_by"] = held_out ? "held_out" : "left_out";
  json["matters"] = matters.how;
  json["matters"]["loss"] = "log-loss";
  Json target{{"name", fit.data.targets[0]}, {"classes", fit.model.classes()}, {"rows_of_classes", counts}};
  if (const auto& scores = fit.model.training().held_out_classes)
    target["scores"]["held_out"] = scores_json(*scores, fit.data.held_out_rows());
  target["scores"]["left_out"] = scores_json(*report.left_out_classes, fit.data.rows());
  target["scores"]["frequencies"] = scores_json(report.of_frequencies, fit.data.rows());
  target["calibration"] = json_of(reliability_curve(probabilities, labels.of_rows));
  target["confusion"] = confusion_json(confusion(probabilities, labels.of_rows));
  target["importance"] = matters.importance[0];
  target["dependence"] = Json::array();
  for (const Eigen::Index k : classes_with_curve(counts))
    target["dependence"].push_back({{"class", fit.model.classes()[static_cast<std::size_t>(k)]},
                                    {"inputs", matters.dependence[static_cast<std::size_t>(k)]}});
  json["targets"].push_back(std::move(target));
}

}  // namespace

Json importance_of(const Learned& learned, const TrainingData& data) {
  const GraphModel* const graph = learned.model.own_graph();
  const Fit fit{learned.model, learned, data, graph ? graph->choices() : 0, false};
  const Matters matters = data.has_classes() ? class_matters(fit) : number_matters(fit);
  Json all = Json::array();
  for (std::size_t j = 0; j < matters.importance.size(); ++j) {
    all.push_back(matters.importance[j]);
    all.back()["target"] = data.targets[j];
  }
  return all;
}

Json report_of(const Learned& learned, const TrainingData& data, const Origin& origin) {
  const GraphModel* const graph = learned.model.own_graph();
  const Fit fit{learned.model, learned, data, graph ? graph->choices() : 0};
  Json json = {{"kind", graph ? "graph" : "network"}};
  json.update(about(origin, learned.warning, data));
  if (data.has_classes())
    add_classes(fit, json);
  else
    add_numbers(fit, json);
  json["graph"] = to_dot(learned.model.method().graph(), standard_registry());
  json["training"] = training_json(learned.model.curves());
  return json;
}

}  // namespace dma::report
