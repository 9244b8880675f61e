#include "tools/experiments/paper/scores.h"

#include <boost/math/quadrature/gauss.hpp>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

namespace dma::reproduce {

namespace {

constexpr std::size_t kMostComponents = 20;  // kept; a mixture of more is told by its mean and width

Json numbers(const Eigen::MatrixXd& values) {
  Json list = Json::array();
  for (Eigen::Index i = 0; i < values.rows(); ++i)
    for (Eigen::Index j = 0; j < values.cols(); ++j) list.push_back(json_number(values(i, j)));
  return list;
}

}  // namespace

std::vector<double> numbers_in(const Json& list) {
  std::vector<double> values;
  for (const Json& value : list) values.push_back(json_number(value));
  return values;
}

double coverage(const Eigen::MatrixXd& cumulative, double level) {
  const auto inside = ((2 * cumulative.array() - 1).abs() <= level).count();
  return static_cast<double>(inside) / static_cast<double>(cumulative.size());
}

double coverage_deviation(const Eigen::MatrixXd& cumulative) {
  // A target with |2 u - 1| = c is covered by the levels from c to 1.
  return (1 - (2 * cumulative.array() - 1).abs()).mean() - 0.5;
}

double noisy_nll(const Prediction& prediction, const Eigen::MatrixXd& truth, double noise) {
  // Gauss-Legendre over +-7 standard deviations of the noise; the mass beyond is 3e-12.
  constexpr double kReach = 7;
  using Rule = boost::math::quadrature::gauss<double, 30>;
  double sum = 0, mass = 0;
  for (std::size_t i = 0; i < Rule::abscissa().size(); ++i)
    for (const double sign : {-1.0, 1.0}) {
      const double t = sign * kReach * Rule::abscissa()[i];
      const double weight = kReach * Rule::weights()[i] * std::exp(-0.5 * t * t) / std::sqrt(2 * std::numbers::pi);
      sum -= weight * prediction.log_density((truth.array() + noise * t).matrix()).mean();
      mass += weight;
    }
  return sum / mass;
}

Prediction outside_prediction(const Json& score) {
  const auto column = [](const Json& json) {
    const std::vector<double> values = numbers_in(json);
    return Eigen::MatrixXd(Eigen::Map<const Eigen::VectorXd>(values.data(), std::ssize(values)));
  };
  const Json& outside = score.at("outside");
  std::vector<PredictionComponent> all;
  if (outside.contains("components"))
    for (const Json& c : outside.at("components"))
      all.push_back(
          {column(c.at("mean")), column(c.at("epistemic_sd")), column(c.at("noise_sd")), column(c.at("weight"))});
  else
    all.push_back({column(outside.at("mean")), column(outside.at("sd")), 0 * column(outside.at("sd"))});
  return Prediction::mix(std::move(all));
}

double predictive_kl(const Json& exact, const Json& other, double noise) {
  const Prediction predicted = outside_prediction(other);
  const Json &function = exact.at("function"), &entropy = exact.at("entropy");
  const std::size_t points = function.size(), count = function.at(0).size();
  double sum = 0;
  for (std::size_t k = 0; k < count; ++k) {
    Eigen::VectorXd f(points);
    for (std::size_t i = 0; i < points; ++i) f[static_cast<Eigen::Index>(i)] = json_number(function[i][k]);
    sum += noisy_nll(predicted, f, noise) / static_cast<double>(count);
  }
  for (const Json& own : entropy) sum -= json_number(own) / static_cast<double>(points);
  return sum;
}

Json score(const Task& task, const std::function<Prediction(const Eigen::MatrixXd&)>& predict, bool curves) {
  Json json;
  json["train_nll"] = json_number(-predict(task.data.inputs).log_density(task.data.targets).mean());
  const std::vector<double> far = task.outside(kExtrapolationPoints);
  const Eigen::MatrixXd far_truth = task.truth(far);
  const Prediction at_far = predict(task.features(far));
  json["extrapolation_nll"] = json_number(-at_far.log_density(far_truth).mean());
  json["noisy_nll"] = json_number(noisy_nll(at_far, far_truth, task.data.noise));
  json["outside"] = {{"mean", numbers(at_far.mean)}, {"sd", numbers(at_far.sd)}};
  if (at_far.components.size() > 1 && at_far.components.size() <= kMostComponents) {
    for (const PredictionComponent& c : at_far.components) {
      const Eigen::MatrixXd each = Eigen::MatrixXd::Constant(at_far.mean.rows(), at_far.mean.cols(),
                                                             1 / static_cast<double>(at_far.components.size()));
      json["outside"]["components"].push_back({{"mean", numbers(c.mean)},
                                               {"epistemic_sd", numbers(c.epistemic_sd)},
                                               {"noise_sd", numbers(c.noise_sd)},
                                               {"weight", numbers(c.weight.size() > 0 ? c.weight : each)}});
    }
  }
  for (const bool inside : {false, true}) {
    const std::vector<double> x = inside ? task.inside(kCalibrationPoints) : task.outside(kCalibrationPoints);
    const Eigen::MatrixXd truth = task.truth(x);
    const Prediction prediction = predict(task.features(x));
    const Eigen::MatrixXd cumulative = prediction.cumulative(truth);
    const std::string where = inside ? "inside" : "outside";
    json[where]["rmse"] = json_number(std::sqrt((prediction.mean - truth).array().square().mean()));
    json[where]["width"] = json_number(prediction.sd.mean());
    json[where]["deviation"] = json_number(coverage_deviation(cumulative));
    json[where]["coverage_95"] = json_number(coverage(cumulative, 0.95));
    for (int k = 0; k <= kCurveLevels; ++k)
      json[where]["curve"].push_back(json_number(coverage(cumulative, static_cast<double>(k) / kCurveLevels)));
  }
  if (curves) {
    const Prediction p = predict(task.features(task.everywhere(kPicturePoints)));
    json["picture"] = {{"mean", numbers(p.mean)}, {"sd", numbers(p.sd)}};
  }
  return json;
}

}  // namespace dma::reproduce
