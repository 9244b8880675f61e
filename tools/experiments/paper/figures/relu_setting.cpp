#include "tools/experiments/paper/figures/relu_setting.h"

#include <algorithm>
#include <cmath>

#include "engine/certify/exact_message.h"
#include "factors/standard_registry.h"

namespace dma::validation {

ReluError relu_error(const ReluSetting& setting) {
  static const Registry registry = standard_registry();
  const Kind& relu = registry.kind("leaky_relu");
  const double sd_y = std::abs(setting.mean_y) / setting.r;
  const Gaussian incoming = Gaussian::from_moments(setting.mean_x, setting.width * setting.width);
  const Arrivals arrivals = {{incoming}, {Gaussian::from_moments(setting.mean_y, sd_y * sd_y)}};
  const std::vector<double> parameters = {setting.slope};
  const Gaussian message(evaluate(relu, "dma", relu.port("x"), arrivals, parameters).value().front());
  const Curve exact = trace_exact(relu, relu.port("x"), 0, arrivals, parameters, {message, incoming}, 1e-10).value();
  const Curve marginal = exact.times(incoming);
  const double delta = std::max(0.0, exact.kl(message));
  const double supremum = std::exp(log_density(incoming, incoming.mean()));
  return {delta, std::max(0.0, marginal.kl(message * incoming)), supremum / (marginal.mass / exact.mass) * delta};
}

}  // namespace dma::validation
