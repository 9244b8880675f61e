// The report of a regression, one part for every target.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/inspect/dot.h"
#include "engine/learn/rows/output_likelihood.h"
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
                               some_rows(c.weight, rows), c.tails, c.likelihoods});
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
    return {"held_out", fit.predict(fit.data.held_out_inputs), &fit.data.held_out_outputs};
  if (fit.left_out) return {"left_out", *fit.left_out, &fit.data.outputs};
  return {"learned", fit.predict(fit.data.inputs), &fit.data.outputs};
}

// P(Y <= y). Of a count, half of P(Y = y) counts as below it: on average that is a half, as of a number.
Eigen::MatrixXd mass_below(const Judged& judged) {
  Eigen::MatrixXd below = judged.prediction.cumulative(*judged.targets);
  const OutputLikelihoods& likelihoods = judged.prediction.components[0].likelihoods;
  if (std::ranges::none_of(likelihoods, [](const auto& one) { return one && one->is_discrete(); })) return below;
  const Eigen::MatrixXd without = judged.prediction.cumulative((judged.targets->array() - 1).matrix());
  for (std::size_t j = 0; j < likelihoods.size(); ++j)
    if (const auto k = static_cast<Eigen::Index>(j); likelihoods[j] && likelihoods[j]->is_discrete())
      below.col(k) = 0.5 * (below.col(k) + without.col(k));
  return below;
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
  const std::size_t rows = fit.data.rows();
  Json json;
  if (j < fit.held_out_scores.size()) {
    const Scores& s = fit.held_out_scores[j];
    json["held_out"] = scores_json(s, fraction_explained(s.rmse, fit.data.held_out_outputs.col(target)),
                                   fit.data.held_out_rows());
  }
  if (j < fit.left_out_scores.size())
    json["left_out"] = scores_json(fit.left_out_scores[j].scores, fit.left_out_scores[j].explained, rows);
  if (judged.by == "learned")
    json["learned"] =
        scores_json(of_judged[j], fraction_explained(of_judged[j].rmse, fit.data.outputs.col(target)), rows);
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

Json training_json(const std::vector<std::vector<double>>& curves) {
  constexpr std::size_t kMostEpochs = 200;
  Json all = Json::array();
  for (const std::vector<double>& epochs : curves) {
    Json json = {{"epoch", Json::array()}, {"value", Json::array()}};
    const std::size_t shown = std::min(epochs.size(), kMostEpochs);
    for (std::size_t i = 0; i < shown; ++i) {
      const std::size_t e = shown < 2 ? i : i * (epochs.size() - 1) / (shown - 1);
      json["epoch"].push_back(e + 1);
      json["value"].push_back(short_number(epochs[e]));
    }
    all.push_back(std::move(json));
  }
  return all;
}

double products_per_row(const SavedBnn& saved, const TrainingData& data) {
  const auto outputs = static_cast<double>(data.targets.size());
  const bool linear = saved.memory.joint && saved.memory.joint->network_fraction == 0;
  const double members = linear ? 1 : static_cast<double>(saved.memory.members.size());
  double weights = linear ? outputs * static_cast<double>(data.features.size() + 1) : 0;
  if (!linear)
    for (const LayerPrior& prior : saved.memory.members.at(0).priors) weights += static_cast<double>(prior.mean.size());
  if (!saved.options.is_joint()) return 100 * members * weights;  // one sweep of messages
  constexpr double kNeighbours = 3e5;  // a matrix over the nearest rows, a search
  return (saved.memory.neighbours ? kNeighbours * outputs : 0) +
         2 * members * outputs * weights * std::min(weights, outputs * static_cast<double>(data.rows()));
}

Matters matters_of(const FittedRegression& fit) {
  const TrainingData& data = fit.data;
  const Effort effort = effort_for(fit.products_per_row, data.inputs.rows(), data.inputs.cols(), data.outputs.cols());
  const auto loss_of = [&](const Places& rows) -> Loss {
    return [&fit, targets = data.outputs(rows, Eigen::all).eval()](const Eigen::MatrixXd& inputs) {
      const Eigen::MatrixXd miss = fit.predict(inputs).mean - targets;
      Eigen::VectorXd rmse(miss.cols());
      for (Eigen::Index j = 0; j < miss.cols(); ++j)
        rmse(j) = miss.col(j).stableNorm() / std::sqrt(static_cast<double>(miss.rows()));
      return rmse;
    };
  };
  const auto model = [&](const Eigen::MatrixXd& inputs) {
    Prediction p = fit.predict(inputs);
    return Response{std::move(p.mean), std::move(p.epistemic_sd)};
  };
  return what_matters(data, effort, fit.seed, loss_of, model);
}

}  // namespace

FittedRegression fitted(const SavedBnn& saved, const Bnn& model, const TrainingData& data,
                        std::optional<Prediction> left_out) {
  return {.kind = "regression",
          .data = data,
          .predict = [&](const Eigen::MatrixXd& inputs) { return model.predict(inputs); },
          .left_out = std::move(left_out),
          .left_out_scores = saved.training.left_out,
          .held_out_scores = saved.training.held_out,
          .noise = model.noise(),
          .training = training_curves(saved),
          .graph = model.graph(),
          .seed = saved.options.seed,
          .products_per_row = products_per_row(saved, data)};
}

FittedRegression fitted(const GraphModel& model, const TrainingData& data,
                        std::vector<std::vector<double>> evidence) {
  constexpr double kProductsOfLikelihood = 1e5;  // that is averaged over what is known of its input
  const auto scalars = static_cast<double>(model.learner().program().scalars());
  FittedRegression fit{.kind = "graph",
                       .data = data,
                       .predict =
                           [&](Eigen::MatrixXd inputs) {
                             auto chosen = inputs.rightCols(model.choices());  // a curve stops at elements only
                             chosen = chosen.array().round().matrix().eval();
                             return model.predict(inputs);
                           },
                       .left_out = model.learner().left_out(),
                       .left_out_scores = {},
                       .held_out_scores = model.training.held_out,
                       .noise = {},
                       .training = std::move(evidence),
                       .graph = model.file().graph,
                       .seed = model.options().seed,
                       .products_per_row = 0};
  const OutputLikelihoods& likelihoods = model.learner().program().likelihoods();
  for (std::size_t j = 0; j < data.targets.size(); ++j) {
    const Scores& scores = model.training.left_out[j];
    fit.left_out_scores.push_back(
        {scores, fraction_explained(scores.rmse, data.outputs.col(static_cast<Eigen::Index>(j)))});
    fit.noise.push_back(likelihoods[j] ? std::nan("") : std::sqrt(model.learner().noise_variance(j)));
    fit.products_per_row += static_cast<double>(model.options().starts) *
                            (2 * scalars * scalars + (likelihoods[j] ? kProductsOfLikelihood : 0));
  }
  return fit;
}

Json report_of(const FittedRegression& fit, const Origin& origin) {
  Json json = {{"kind", fit.kind}};
  json.update(about(origin, fit.data));
  const Judged judged = judged_rows(fit);
  const std::vector<Scores> of_judged = scores_of(judged.prediction, *judged.targets);
  const Eigen::MatrixXd below = mass_below(judged);
  const auto targets = static_cast<Eigen::Index>(fit.data.targets.size());
  const Places shown =
      sample_rows(judged.targets->rows(), std::clamp(kPointsOfAll / targets, kLeastPoints, kMostPoints), fit.seed);
  const Prediction of_shown = some_rows(judged.prediction, shown);
  const Eigen::MatrixXd low = of_shown.quantile(0.025), high = of_shown.quantile(0.975);
  const Matters matters = matters_of(fit);
  json["judged_by"] = judged.by;
  json["matters"] = matters.how;
  json["matters"]["loss"] = "RMSE";
  for (Eigen::Index j = 0; j < targets; ++j) {
    const auto place = static_cast<std::size_t>(j);
    json["targets"].push_back({{"name", fit.data.targets[place]},
                               {"noise", std::isnan(fit.noise[place]) ? Json() : json_number(fit.noise[place])},
                               {"scores", all_scores(fit, judged, of_judged, j)},
                               {"points", points_json(judged, shown, of_shown, low, high, j)},
                               {"coverage", json_of(coverage_curve(below.col(j)))},
                               {"calibration", json_of(quantile_curve(below.col(j)))},
                               {"importance", matters.importance[place]},
                               {"dependence", matters.dependence[place]}});
  }
  json["training"] = training_json(fit.training);
  json["graph"] = to_dot(fit.graph, standard_registry());
  return json;
}

}  // namespace dma::report
