#include <fmt/format.h>

#include <cmath>

#include "tools/dma/fit/summary.h"

namespace dma {

std::vector<NetworkLayer> layers_of(const TableMethod& network) {
  std::vector<NetworkLayer> layers;
  for (LearnedVariable& own : network.variables()) {
    if (own.name.starts_with("level")) continue;  // effects of values
    const bool is_bias = !layers.empty() && layers.back().member == own.member && !layers.back().bias &&
                         own.columns == 1 && own.rows == layers.back().units && own.name.starts_with('b');
    if (!is_bias) {
      layers.push_back(
          {own.member, own.rows, own.columns, false, std::move(own.beliefs), std::move(own.prior_variance)});
      continue;
    }
    NetworkLayer& layer = layers.back();
    layer.bias = true;
    layer.weights.insert(layer.weights.end(), own.beliefs.begin(), own.beliefs.end());
    layer.prior_variance.insert(layer.prior_variance.end(), own.prior_variance.begin(), own.prior_variance.end());
  }
  return layers;
}

std::vector<LayerOfWeights> layers_of(const TableModel& model) {
  std::vector<LayerOfWeights> all;
  if (model.own_graph() != nullptr) return all;
  const std::size_t members = model.curves().size();
  std::size_t number = 0;
  for (const NetworkLayer& own : layers_of(model.method())) {
    number = all.empty() || all.back().member != own.member ? 1 : number + 1;
    Eigen::ArrayXd mean(std::ssize(own.weights)), variance = mean;
    for (Eigen::Index i = 0; i < mean.size(); ++i) {
      const Gaussian& belief = own.weights[static_cast<std::size_t>(i)];
      mean(i) = belief.mean(), variance(i) = belief.variance();
    }
    const Eigen::Map<const Eigen::ArrayXd> prior(own.prior_variance.data(), std::ssize(own.prior_variance));
    const std::string name = fmt::format("layer {}: {} -> {}", number, own.inputs, own.units);
    all.push_back({members > 1 ? fmt::format("network {}, {}", own.member + 1, name) : name, own.member,
                   own.weights.size(), root_mean_square(mean), root_mean_square(variance.sqrt()),
                   root_mean_square(prior.sqrt()), (mean.abs() > 2 * variance.sqrt()).cast<double>().mean()});
  }
  return all;
}

std::string layers_text(const std::vector<LayerOfWeights>& layers) {
  constexpr const char* kLine = "{:<28}{:>8}{:>12}{:>12}{:>12}{:>12}\n";
  const auto number = [](double value) { return fmt::format("{:.4g}", value); };
  std::string text =
      fmt::format(fmt::runtime(kLine), "layer", "weights", "rms mean", "rms sd", "prior sd", "clear sign");
  for (const LayerOfWeights& l : layers)
    text +=
        fmt::format(fmt::runtime(kLine), l.name, l.weights, number(l.mean), number(l.sd),
                    std::isfinite(l.prior_sd) ? number(l.prior_sd) : "uniform", fmt::format("{:.1f} %", 100 * l.clear));
  return text;
}

Json layers_json(const std::vector<LayerOfWeights>& layers) {
  Json all = Json::array();
  for (const LayerOfWeights& l : layers)
    all.push_back({{"name", l.name},
                   {"member", l.member + 1},
                   {"weights", l.weights},
                   {"rms_mean", json_number(l.mean)},
                   {"rms_sd", json_number(l.sd)},
                   {"prior_sd", json_number(l.prior_sd)},
                   {"share_with_clear_sign", json_number(l.clear)}});
  return all;
}

}  // namespace dma
