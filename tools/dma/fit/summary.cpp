#include "tools/dma/fit/summary.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/support/fields.h"
#include "engine/support/text.h"

namespace dma {

double root_mean_square(const Eigen::ArrayXd& values) {
  const double largest = values.abs().maxCoeff();
  return largest > 0 && std::isfinite(largest) ? largest * std::sqrt((values / largest).square().mean()) : largest;
}

LayerOfWeights::LayerOfWeights(std::string its_name, Json its_place, const Eigen::ArrayXd& means,
                               const Eigen::ArrayXd& variances, const Eigen::ArrayXd& prior_variances)
    : name(std::move(its_name)),
      place(std::move(its_place)),
      weights(static_cast<std::size_t>(means.size())),
      mean(root_mean_square(means)),
      sd(root_mean_square(variances.sqrt())),
      prior_sd(root_mean_square(prior_variances.sqrt())),
      clear((means.abs() > 2 * variances.sqrt()).cast<double>().mean()) {}

std::string layers_text(const std::vector<LayerOfWeights>& layers) {
  constexpr const char* kLine = "{:<28}{:>8}{:>12}{:>12}{:>12}{:>12}\n";
  const auto number = [](double value) { return fmt::format("{:.4g}", value); };
  std::string text =
      fmt::format(fmt::runtime(kLine), "layer", "weights", "rms mean", "rms sd", "prior sd", "clear sign");
  for (const LayerOfWeights& l : layers)
    text += fmt::format(fmt::runtime(kLine), l.name, l.weights, number(l.mean), number(l.sd), number(l.prior_sd),
                        fmt::format("{:.1f} %", 100 * l.clear));
  return text;
}

Json layers_json(const std::vector<LayerOfWeights>& layers) {
  Json all = Json::array();
  for (const LayerOfWeights& l : layers) {
    all.push_back(l.place);
    all.back().update({{"weights", l.weights},
                       {"rms_mean", json_number(l.mean)},
                       {"rms_sd", json_number(l.sd)},
                       {"prior_sd", json_number(l.prior_sd)},
                       {"share_with_clear_sign", json_number(l.clear)}});
  }
  return all;
}

std::string scores_text(const Scores& s) {
  return fmt::format("RMSE {:.4g}, log-likelihood {:.4f}, inside 50/90/95 % intervals: {:.1f}/{:.1f}/{:.1f} %", s.rmse,
                     s.log_likelihood, 100 * s.coverage_50, 100 * s.coverage_90, 100 * s.coverage_95);
}

std::string scores_text(const ClassScores& s) {
  return fmt::format("accuracy {:.2f} %, log-loss {:.4f}, calibration error {:.2f} %", 100 * s.accuracy, s.log_loss,
                     100 * s.calibration_error);
}

namespace {

std::vector<std::string> logged_inputs(const Standardiser& inputs, const std::vector<std::string>& features) {
  std::vector<std::string> names;
  for (Eigen::Index j = 0; j < inputs.log_from.size(); ++j)
    if (inputs.log_from(j) > 0) names.push_back(features.at(static_cast<std::size_t>(j)));
  return names;
}

}  // namespace

std::string scale_text(const Standardiser& inputs, const std::vector<std::string>& features) {
  const std::vector<std::string> logged = logged_inputs(inputs, features);
  return logged.empty() ? "" : fmt::format("scale     logarithmic for {}\n", joined(logged));
}

void add_columns(Json& json, const ColumnCoding& coding, const Standardiser& inputs,
                 const std::vector<std::string>& features) {
  if (!coding.empty()) json["columns"] = written(coding.rules);
  if (const auto logged = logged_inputs(inputs, features); !logged.empty()) json["log_inputs"] = logged;
}

}  // namespace dma
