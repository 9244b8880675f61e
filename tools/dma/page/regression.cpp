// The report of a regression, one part for every target.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/inspect/dot.h"
#include "factors/standard_registry.h"
#include "tools/dma/fit/model_summary.h"
#include "tools/dma/page/parts.h"
#include "tools/dma/page/sample.h"

namespace dma::report {

namespace {

using Places = std::vector<Eigen::Index>;

constexpr Eigen::Index kMostPoints = 600, kPointsOfAll = 1800, kLeastPoints = 30;

Eigen::MatrixXd some_rows(const Eigen::MatrixXd& all, const Places& rows) {
  return all.size() == 0 ? all : all(rows, Eigen::all).eval();
}

Prediction some_rows(const Prediction& all, const Places& rows) {
  Prediction some{some_rows(all.mean, rows),
                  some_rows(all.sd, rows),
                  some_rows(all.epistemic_sd, rows),
                  some_rows(all.noise_sd, rows),
                  {}};
  for (const PredictionComponent& c : all.components)
    some.components.push_back({some_rows(c.mean, rows), some_rows(c.epistemic_sd, rows), some_rows(c.noise_sd, rows),
                               some_rows(c.weight, rows), c.tails});
  return some;
}

// Rows by which the model is judged, and what it said of them.
struct Judged {
  std::string by;
  Prediction prediction;
  const Eigen::MatrixXd* targets;
};

// Rows kept aside, unless they are too few for a picture while there are others that can be taken for unseen.
Judged judged_rows(const FittedRegression& fit) {
  constexpr std::size_t kEnough = 30;
  const std::size_t held_out = fit.data.held_out_rows();
  if (held_out >= kEnough || (held_out > 0 && !fit.left_out))
    return {"held_out", fit.model.predict(fit.data.held_out_inputs), &fit.data.held_out_outputs};
  if (fit.left_out) return {"left_out", *fit.left_out, &fit.data.outputs};
  return {"learned", fit.model.predict(fit.data.inputs), &fit.data.outputs};
}

Json scores_json(const Scores& scores, double explained, std::size_t rows) {
  Json json = to_json(scores);
  json["explained"] = json_number(explained);
  json["rows"] = rows;
  return json;
}

Json all_scores(const FittedRegression& fit, const Judged& judged, const std::vector<Scores>& of_judged,
                Eigen::Index target) {
  const auto j = static_cast<std::size_t>(target);
  const TrainingRecord& t = fit.saved.training;
  Json json;
  if (j < t.held_out.size())
    json["held_out"] =
        scores_json(t.held_out[j], fraction_explained(t.held_out[j].rmse, fit.data.held_out_outputs.col(target)),
                    fit.data.held_out_rows());
  if (j < t.left_out.size()) json["left_out"] = scores_json(t.left_out[j].scores, t.left_out[j].explained, t.rows);
  if (judged.by == "learned")
    json["learned"] =
        scores_json(of_judged[j], fraction_explained(of_judged[j].rmse, fit.data.outputs.col(target)), t.rows);
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

Json training_json(const SavedBnn& saved) {
  constexpr std::size_t kMostEpochs = 200;
  Json all = Json::array();
  for (const auto& member : saved.memory.members) {
    const auto& epochs = member.learner.epochs;
    Json json = {{"epoch", Json::array()}, {"value", Json::array()}};
    const std::size_t shown = std::min(epochs.size(), kMostEpochs);
    for (std::size_t i = 0; i < shown; ++i) {
      const EpochRecord& e = epochs[shown < 2 ? i : i * (epochs.size() - 1) / (shown - 1)];
      json["epoch"].push_back(e.epoch);
      json["value"].push_back(short_number(e.log_likelihood - mean_log_scale(saved.memory.targets)));
    }
    all.push_back(std::move(json));
  }
  return all;
}

double products_per_row(const FittedRegression& fit) {
  const auto outputs = static_cast<double>(fit.data.targets.size());
  const bool linear = fit.saved.memory.joint && fit.saved.memory.joint->network_fraction == 0;
  const double members = linear ? 1 : static_cast<double>(fit.saved.memory.members.size());
  double weights = linear ? outputs * static_cast<double>(fit.data.features.size() + 1) : 0;
  if (!linear)
    for (const LayerPrior& prior : fit.saved.memory.members.at(0).priors)
      weights += static_cast<double>(prior.mean.size());
  if (!fit.saved.options.is_joint()) return 100 * members * weights;  // one sweep of messages
  return 2 * members * outputs * weights * std::min(weights, outputs * static_cast<double>(fit.data.rows()));
}

Matters matters_of(const FittedRegression& fit) {
  const TrainingData& data = fit.data;
  const Effort effort = effort_for(products_per_row(fit), data.inputs.rows(), data.inputs.cols(), data.outputs.cols());
  const auto loss_of = [&](const Places& rows) -> Loss {
    return [&fit, targets = data.outputs(rows, Eigen::all).eval()](const Eigen::MatrixXd& inputs) {
      const Eigen::MatrixXd miss = fit.model.predict(inputs).mean - targets;
      Eigen::VectorXd rmse(miss.cols());
      for (Eigen::Index j = 0; j < miss.cols(); ++j)
        rmse(j) = miss.col(j).stableNorm() / std::sqrt(static_cast<double>(miss.rows()));
      return rmse;
    };
  };
  const auto model = [&](const Eigen::MatrixXd& inputs) {
    Prediction p = fit.model.predict(inputs);
    return Response{std::move(p.mean), std::move(p.epistemic_sd)};
  };
  return what_matters(data, effort, fit.saved.options.seed, loss_of, model);
}

}  // namespace

Json report_of(const FittedRegression& fit, const Origin& origin) {
  Json json = {{"kind", "regression"}};
  json.update(about(origin, fit.data));
  const Judged judged = judged_rows(fit);
  const std::vector<Scores> of_judged = scores_of(judged.prediction, *judged.targets);
  const Eigen::MatrixXd below = judged.prediction.cumulative(*judged.targets);
  const auto targets = static_cast<Eigen::Index>(fit.data.targets.size());
  const Places shown = sample_rows(
      judged.targets->rows(), std::clamp(kPointsOfAll / targets, kLeastPoints, kMostPoints), fit.saved.options.seed);
  const Prediction of_shown = some_rows(judged.prediction, shown);
  const Eigen::MatrixXd low = of_shown.quantile(0.025), high = of_shown.quantile(0.975);
  const Matters matters = matters_of(fit);
  const std::vector<double> noise = fit.model.noise();
  json["judged_by"] = judged.by;
  json["matters"] = matters.how;
  json["matters"]["loss"] = "RMSE";
  for (Eigen::Index j = 0; j < targets; ++j) {
    const auto place = static_cast<std::size_t>(j);
    json["targets"].push_back({{"name", fit.data.targets[place]},
                               {"noise", json_number(noise[place])},
                               {"scores", all_scores(fit, judged, of_judged, j)},
                               {"points", points_json(judged, shown, of_shown, low, high, j)},
                               {"coverage", json_of(coverage_curve(below.col(j)))},
                               {"calibration", json_of(quantile_curve(below.col(j)))},
                               {"importance", matters.importance[place]},
                               {"dependence", matters.dependence[place]}});
  }
  json["training"] = training_json(fit.saved);
  json["graph"] = to_dot(fit.model.graph(), standard_registry());
  return json;
}

}  // namespace dma::report
